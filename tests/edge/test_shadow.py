"""A candidate that is asked beside what decides: it differs or agrees, and answers nobody."""

import asyncio
from typing import Any

import httpx
import pytest

from orchid.edge import shadow, shadow_lines
from orchid.edge.app import now_ms
from orchid.edge.shadow_sender import ShadowSender
from orchid.engine.shadow.differences import difference
from orchid.engine.wire.shadow import ShadowRecord
from tests.edge.control_plane import ControlPlane
from tests.edge.edge_site import Running, Site
from tests.edge.shadow_site import TIGHT, early


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are read and lines are sent when a test says so."""
    for loop in (shadow.Shadow, ShadowSender):
        monkeypatch.setattr(loop, "run", _nothing)


async def _nothing(_: object) -> None:
    await asyncio.Event().wait()


def read(running: Running) -> None:
    """All that was noted, without waiting for the task that reads it."""
    running.edge.service.shadow.read_notes(60.0)


async def lines(running: Running, plane: ControlPlane) -> dict[str, ShadowRecord]:
    """What reached the control plane, by request."""
    read(running)
    assert await running.edge.shadow_sender.send_once()
    return {one.request_id: one for one in plane.shadows}


def differs(line: ShadowRecord) -> str:
    return difference(line.incumbent, line.candidate)


async def test_a_candidate_is_asked_beside_and_both_decisions_are_sent(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(early("shadow", **TIGHT))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        answer = await running.admit("r1", tenant="t1", input_tokens=100)
        sent = (await lines(running, plane))["r1"]
    assert answer.status_code == 200
    assert (sent.mode, differs(sent), sent.publication) == ("shadow", "refuses", 1)
    assert (sent.incumbent.action, sent.incumbent.route) == ("admit", "full")
    assert (sent.candidate.action, sent.candidate.reason) == ("reject", "memory_infeasible")
    assert sent.candidate.fell_out["full"] == "memory_infeasible"
    assert (sent.tenant, sent.input_tokens, sent.deadline_ms) == ("t1", 100, 5000)


async def test_where_nothing_asks_for_it_nothing_is_decided_twice(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(early())
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1")
        assert await lines(running, plane) == {}


async def test_a_candidate_lives_on_what_its_own_decisions_leave(
    site: Site, plane: ControlPlane
) -> None:
    """It refuses the second for what it reserved for the first, and serves again after its end."""
    whole: dict[str, Any] = {"per_device": 400, "per_tenant": 150, "per_request": 400}
    plane.publish(early("shadow", admission__live_tokens=whole))
    given: dict[str, Any] = {"tenant": "t1", "input_tokens": 100, "max_output_tokens": 20}
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        first = (await running.admit("r1", **given)).json()["attempt_id"]
        await running.admit("r2", **given)
        await running.settle(first)
        await running.admit("r3", **given)
        sent = await lines(running, plane)
    assert [differs(sent[name]) for name in ("r1", "r2", "r3")] == ["same", "refuses", "same"]
    assert sent["r2"].candidate.reason == "tenant_live_tokens"


async def test_without_its_own_pool_a_candidate_decides_on_the_fleet_that_it_declares(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(early("shadow", pool="two", contract__deadline_ms=900))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1")
        read(running)
        site.ready_pool("two", slots=1, models=("compact",))
        running.edge.service.use_pools(_pools(site))
        await running.admit("r2")
        sent = await lines(running, plane)
    assert differs(sent["r1"]) == "same"
    assert sent["r2"].candidate.reason == "no_warm_replica"


async def test_an_overloaded_fleet_has_no_reserve_to_ask_a_candidate(
    site: Site, plane: ControlPlane
) -> None:
    """What was left out is counted on the next line that is written."""
    bounds = {"enter": {"live_tokens": 0.005}, "leave": {"live_tokens": 0.004}}
    rung = {"rung": "stop_shadow", **bounds, "dwell": "1ms", "steady_for": "1ms"}
    plane.publish(early("shadow", incumbent={"overload": [rung]}, **TIGHT))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        service = running.edge.service
        first = (await running.admit("r1", input_tokens=600)).json()["attempt_id"]
        service.fleet.observe_all()
        await running.admit("r2")
        assert service.fleet.ladder(service.active.incumbent).rung == 1  # type: ignore[union-attr]
        for attempt in (first, *list(service.requests.open)):
            await running.settle(attempt)
        _calm(running)
        await running.admit("r3")
        sent = await lines(running, plane)
    assert set(sent) == {"r1", "r3"}
    assert sent["r1"].passed_over == {"overload": 1}


async def test_what_has_no_room_is_left_out_and_counted(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "MOST_NOTED", 1)
    plane.publish(early("shadow"))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        for number in range(4):
            await running.admit(f"a{number}")
        read(running)
        await running.admit("later")
        sent = await lines(running, plane)
    assert set(sent) == {"a0", "later"}
    assert sent["a0"].passed_over == {"behind": 3}


async def test_lines_that_nobody_takes_fill_a_bounded_memory(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_lines, "MOST_LINES", 2)
    plane.publish(early("shadow"))
    plane.ingest_status = 503
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        for number in range(4):
            await running.admit(f"a{number}")
        read(running)
        assert not await running.edge.shadow_sender.send_once()
        assert running.edge.shadow_sender.last_problem is not None
        plane.ingest_status = 202
        assert set(await lines(running, plane)) == {"a0", "a1"}


async def test_a_batch_that_was_not_acknowledged_comes_again_under_its_id(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(early("shadow"))
    seen: list[str] = []

    async def note(request: httpx.Request) -> None:
        if request.url.path.endswith("/shadow"):
            seen.append(request.headers["Batch-Id"])

    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        running.edge.client.event_hooks["request"] = [note]
        await running.admit("r1")
        read(running)
        plane.ingest_status = 500
        await running.edge.shadow_sender.send_once()
        plane.ingest_status = 202
        await running.edge.shadow_sender.send_once()
    assert len(seen) >= 2
    assert len(set(seen)) == 1


async def test_another_candidate_answers_for_no_request_of_the_one_before(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(early("shadow", **TIGHT))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1")
        plane.publish(early("shadow", publication=2, contract__deadline_ms=900))
        await plane.until(lambda: plane.activated(2))
        await running.admit("r2")
        sent = await lines(running, plane)
    assert {name: one.publication for name, one in sent.items()} == {"r2": 2}


async def test_a_request_that_waits_is_compared_when_both_have_decided(
    site: Site, plane: ControlPlane
) -> None:
    """The candidate may have two at once and lets the third wait, which the incumbent serves."""
    two: dict[str, Any] = {"mode": "static_knee", "per_replica": 2}
    plane.publish(early("shadow", admission__concurrency=two))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        attempts = [(await running.admit(f"r{n}")).json()["attempt_id"] for n in range(3)]
        assert set(await lines(running, plane)) == {"r0", "r1"}
        await running.settle(attempts[0])
        sent = await lines(running, plane)
    assert differs(sent["r2"]) == "same"


def _pools(site: Site) -> Any:
    from orchid.edge.pools import read_pools

    return read_pools(site.pools)


def _calm(running: Running) -> None:
    """Look until the rung is left: once the fleet is calm, and once it was so for long enough."""
    service = running.edge.service
    for later_ms in (0.0, 10.0):
        service.now_ms = lambda later_ms=later_ms: now_ms() + later_ms  # type: ignore[misc]
        service.fleet.observe_all()
    assert service.active is not None
    assert service.fleet.ladder(service.active.incumbent).rung == 0
