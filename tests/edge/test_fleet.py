"""What replicas say and do moves the edge: signals, breakers, privacy cells."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchid.edge.pools import read_pools
from orchid.engine.admission.signals import Signal
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Running, Site

SIGNALS: dict[str, Any] = {"admission__signals": {"fresh": "1s", "hold": "5s", "penalty": "50ms"}}
TOUCHY: dict[str, Any] = {"admission__breaker": {"failures": 2, "window_s": 10, "open_s": 60}}


def told(age_s: float = 0.0, **given: Any) -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(seconds=age_s)
    known = {"pool": "one", "replica": "one", "at": at.isoformat(), "queue_wait_ms": 40.0}
    return {**known, **given}


async def test_a_decision_names_the_age_of_the_signal_it_used(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **SIGNALS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        heard = await running.client.post("/v1/signals", json=told(age_s=0.3))
        assert heard.status_code == 204
        grant = (await running.admit("r1")).json()
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert record.decision is not None
    assert 300 <= (record.decision.signal_age_ms or 0) < 1500
    assert record.decision.queue_ms == 40.0


async def test_without_any_signal_a_replica_takes_its_safe_floor_and_says_so(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **SIGNALS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        assert (await running.admit("r1")).status_code == 200
        refused = await running.admit("r2")
        assert (refused.status_code, refused.json()["reason"]) == (503, "signals_stale")
        await running.client.post("/v1/signals", json=told())
        assert (await running.admit("r3")).status_code == 200


async def test_a_state_file_may_carry_the_signal(site: Site, plane: ControlPlane) -> None:
    at = datetime.now(UTC).isoformat()
    site.ready_pool("one", slots=4, signal={"at": at, "queue_wait_ms": 7.0})
    plane.publish(bundle(3, **SIGNALS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
        assert 0 <= replica["signal_age_ms"] < 10_000


async def test_a_state_file_from_a_clock_that_runs_ahead_is_not_heard(
    site: Site, plane: ControlPlane
) -> None:
    site.ready_pool("one", slots=4, signal={"at": "9999-01-01T00:00:00Z", "queue_wait_ms": 7.0})
    async with site.edge() as running:
        await running.client.post("/v1/signals", json=told())
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
    assert 0 <= replica["signal_age_ms"] < 10_000


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"replica": "two"}, 404, "unknown_replica"),
        ({"pool": "two"}, 404, "unknown_replica"),
        ({"age_s": -60}, 400, "bad_time"),
        ({"completion_ms": 9.0}, 400, "unknown_field"),
    ],
    ids=str,
)
async def test_a_word_that_is_no_signal_is_refused(
    site: Site, plane: ControlPlane, given: Any, status: int, code: str
) -> None:
    async with site.edge() as running:
        answer = await running.client.post("/v1/signals", json=told(**given))
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_an_older_word_never_replaces_a_newer_one(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        await running.client.post("/v1/signals", json=told())
        await running.client.post("/v1/signals", json=told(age_s=3.0))
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
    assert replica["signal_age_ms"] < 3000


async def test_an_adaptive_limit_falls_with_the_wait_in_the_replicas_queue(
    site: Site, plane: ControlPlane
) -> None:
    adaptive = {"mode": "queue_wait_aimd", "per_replica": 4, "floor": 2, "target_wait": "30ms"}
    plane.publish(bundle(3, admission__concurrency={**adaptive, "decrease": 0.5}, **SIGNALS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await running.client.post("/v1/signals", json=told())
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
    assert replica["limit"] == 2


async def ended(running: Running, name: str, **how: Any) -> None:
    grant = (await running.admit(name)).json()
    await running.settle(grant["attempt_id"], **{"policy_valid": None, "schema_valid": None, **how})


async def test_failures_of_the_server_open_its_breaker(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(3, **TOUCHY))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await ended(running, "r1", status="failed")
        await ended(running, "r2", status="timed_out")
        refused = await running.admit("r3")
        assert (refused.status_code, refused.json()["reason"]) == (503, "breaker_open")
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
        assert replica["breaker"] == "open"


async def test_a_client_that_gave_up_and_a_validator_that_stopped_say_nothing_against_a_server(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **TOUCHY))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        for n in range(3):
            await ended(running, f"c{n}", status="cancelled")
            await ended(running, f"v{n}", status="failed", schema_valid=False)
            grant = (await running.admit(f"g{n}")).json()
            await running.client.post("/v1/cancel", json={"attempt_id": grant["attempt_id"]})
            await running.settle(grant["attempt_id"], status="timed_out")
        replica = (await running.status())["pools"]["one"]["replicas"]["one"]
    assert replica["breaker"] == "closed"


async def test_a_probe_that_succeeds_brings_the_server_back(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **TOUCHY))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        service = running.edge.service
        await ended(running, "r1", status="failed")
        await ended(running, "r2", status="failed")
        later_ms = service.now_ms() + 60_000
        service.now_ms = lambda: later_ms
        probe = (await running.admit("p1")).json()
        assert (await running.admit("r3")).json()["reason"] == "breaker_open"
        await running.settle(probe["attempt_id"])
        assert (await running.admit("r4")).status_code == 200


async def test_a_privacy_cell_is_served_by_its_own_replica_alone(
    site: Site, plane: ControlPlane
) -> None:
    (site.pools / "triton-one.json").unlink()
    site.ready_pool("one", slots=4, replica="open", http="127.0.0.1:2", privacy_cells=["eu"])
    site.ready_pool("one", slots=4, replica="shut", http="127.0.0.1:3", privacy_cells=["bank"])
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        for n in range(4):
            grant = (await running.admit(f"r{n}", privacy_cell="bank")).json()
            assert (grant["replica"], grant["endpoints"]["http"]) == ("shut", "127.0.0.1:3")
        stranger = await running.admit("r9", privacy_cell="elsewhere")
        assert (stranger.status_code, stranger.json()["reason"]) == (503, "privacy_cell")
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert record.privacy_cell == "elsewhere"


@pytest.mark.parametrize(("run", "left"), [("first", 1), ("second", 0)])
async def test_a_server_that_was_gone_has_its_attempts_unless_it_was_started_anew(
    site: Site, plane: ControlPlane, run: str, left: int
) -> None:
    site.ready_pool("one", slots=4, run_id="first")
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        service = running.edge.service
        state_file = site.pools / "triton-one.json"
        state_file.unlink()
        service.use_pools(read_pools(site.pools))
        site.ready_pool("one", slots=4, run_id=run)
        service.use_pools(read_pools(site.pools))
        assert service.state.pools["one"].in_flight == left
        assert (await running.settle(grant["attempt_id"])).json()["settled"] is True
        assert service.state.pools["one"].in_flight == 0
        assert service.state.live_tokens(pool="one") == 0


async def test_a_word_is_heard_after_the_clock_was_put_back(
    site: Site, plane: ControlPlane
) -> None:
    async with site.edge() as running:
        service = running.edge.service
        now_ms = service.now_ms()
        ahead = service.state.pools["one"].replicas["one"]
        ahead.signal = Signal(now_ms + 3_600_000.0, 9.0, None)
        heard = await running.client.post("/v1/signals", json=told())
        assert heard.status_code == 204
        assert ahead.signal.at_ms <= service.now_ms()
