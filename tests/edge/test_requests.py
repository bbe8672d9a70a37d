"""From admission to record: grants, refusals, waiting in order, and each attempt ended once."""

import asyncio
from typing import Any

import pytest

from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Running, Site
from tests.small_policy import small_document

PREFER = {
    "fallback": [
        {"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}
    ]
}


async def test_a_grant_says_where_it_runs_and_under_which_generation(
    site: Site, plane: ControlPlane
) -> None:
    published = bundle(3)
    plane.publish(published)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        assert (grant["action"], grant["route"], grant["pool"]) == ("admit", "full", "one")
        assert grant["endpoints"] == {"grpc": None, "http": "127.0.0.1:1"}
        assert (grant["publication"], grant["cohort"]) == (3, "incumbent")
        assert grant["digest"] == published.generations.incumbent.digest
        assert grant["reserved_teu"] == "52.00"
        assert grant["max_output_tokens"] == 20


async def test_output_past_what_was_reserved_is_charged_and_named(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        assert grant["max_output_tokens"] == 20
        ended = await running.settle(grant["attempt_id"], output_tokens=25, finish_reason="stop")
        charge = ended.json()["charge"]
        assert (charge["used_teu"], charge["over_cap_teu"]) == ("57.00", "5.00")
        assert charge["refunded_teu"] == "0"
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.stop_reason, record.attempts[0].stop_reason) == ("cap_crossed", "cap_crossed")
    assert record.attempts[0].teu_observed == 57


async def test_a_settled_request_becomes_one_record_with_both_sides_of_it(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1", tenant="acme", tenant_class="standard")).json()
        ended = (await running.settle(grant["attempt_id"])).json()
        assert ended == {
            "settled": True,
            "charge": {
                "reserved_teu": "52.00",
                "used_teu": "42.00",
                "refunded_teu": "10.00",
                "over_cap_teu": "0",
            },
        }
        assert (await running.settle(grant["attempt_id"])).json() == {"settled": False}
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.request_id, record.outcome, record.released) == ("r1", "completed", True)
    assert record.segment == {"task": "chat", "tenant_class": "standard"}
    assert (record.eligible, record.policy_valid, record.completion_ms) == (True, True, 300.0)
    assert record.decision is not None
    assert (record.decision.action, record.decision.reason) == ("admit", "requested")
    assert (record.decision.output_tokens, record.decision.live_tokens) == (20, 148)
    (attempt,) = record.attempts
    assert attempt.attempt_id == grant["attempt_id"]
    assert attempt.teu_predicted == 52
    assert attempt.teu_prefill_predicted == 32
    assert attempt.teu_decode_predicted == 20
    assert attempt.teu_observed == 42
    assert attempt.teu_prefill_observed == 32
    assert attempt.teu_decode_observed == 10
    assert attempt.manifest is not None
    assert attempt.manifest.startswith("sha256:")


async def test_an_attempt_tells_what_it_held_and_whom_it_called(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1", external_calls=2)).json()
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: bool(plane.records))
    (attempt,) = plane.records[0].attempts
    assert attempt.external_calls == 2
    assert attempt.start_ms is not None
    assert attempt.released_ms is not None
    assert attempt.live_token_ms == 148 * (attempt.released_ms - attempt.start_ms)


async def test_a_cut_keeps_where_it_fell_and_the_last_score_of_the_request(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, admission__retry__budget=1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        first = (await running.admit("r1")).json()["attempt_id"]
        ended = await running.settle(
            first,
            status="truncated",
            final=False,
            finish_reason="low_confidence",
            interrupted_after_tokens=7,
            scorer_confidence=0.35,
        )
        assert "open_until" in ended.json()
        second = (await running.admit("r1")).json()["attempt_id"]
        await running.settle(second, finish_reason="stop")
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    cuts = [(one.stop_reason, one.interrupted_after_tokens) for one in record.attempts]
    assert cuts == [("low_confidence", 7), ("stop", None)]
    assert (record.stop_reason, record.scorer_confidence) == ("stop", 0.35)


async def test_unknown_output_has_no_observed_work_in_any_phase(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        await running.settle(grant["attempt_id"], status="failed", output_tokens=None)
        await plane.until(lambda: bool(plane.records))
    (attempt,) = plane.records[0].attempts
    observed = attempt.teu_observed, attempt.teu_prefill_observed, attempt.teu_decode_observed
    assert observed == (None, None, None)
    assert attempt.interrupted_after_tokens is None
    assert attempt.teu_prefill_predicted == 32


@pytest.mark.parametrize(
    "given",
    [
        {"interrupted_after_tokens": 7},  # and completed
        {"status": "truncated", "interrupted_after_tokens": -1},
        {"scorer_confidence": 1.5},
    ],
)
async def test_a_settlement_that_can_not_be_is_refused_and_leaves_the_attempt_open(
    site: Site, plane: ControlPlane, given: dict[str, Any]
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        answer = await running.settle(grant["attempt_id"], **given)
        assert answer.status_code == 400
        assert (await running.settle(grant["attempt_id"])).json()["settled"] is True


async def test_an_early_stop_counts_as_one_only_where_its_evidence_covers_the_segment(
    site: Site, plane: ControlPlane
) -> None:
    stop = {"version": "stop-2", "evidence": "false stops 3 of 5000", "where": {"task": "chat"}}
    full = {**small_document()["models"]["full"], "early_stop": stop}
    plane.publish(bundle(3, models__full=full, contract__accepts=["bounded", "early_terminated"]))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        stops = {}
        for name in ("chat", "form"):
            grant = (await running.admit(name, **{"class": name})).json()
            stops[name] = grant["early_stop"]
            await running.settle(grant["attempt_id"], status="early_terminated")
        await plane.until(lambda: len(plane.records) == 2)
    assert stops == {"chat": "stop-2", "form": None}
    by_id = {record.request_id: record.outcome for record in plane.records}
    assert by_id == {"chat": "early_terminated", "form": "truncated"}


async def test_a_refusal_is_typed_and_recorded(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        answer = await running.admit("r1", deadline_ms=1)
        assert answer.status_code == 503
        refusal = answer.json()
        assert (refusal["schema"], refusal["reason"]) == (
            "orchid.refusal/v1",
            "deadline_infeasible",
        )
        assert refusal["retryable"] is False
        assert "Retry-After" not in answer.headers
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.outcome, record.publication) == ("rejected", 3)
    assert record.decision is not None
    assert record.decision.reason == "deadline_infeasible"
    assert not record.attempts


async def test_a_missing_pool_has_no_warm_replica_and_a_retry_time(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, pool="nowhere"))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        answer = await running.admit("r1")
        assert (answer.status_code, answer.json()["reason"]) == (503, "no_warm_replica")
        assert int(answer.headers["Retry-After"]) >= 1


async def test_text_never_comes_in(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        answer = await running.admit("r1", prompt="tell me")
        assert (answer.status_code, answer.json()["code"]) == (400, "text_not_allowed")


async def test_an_attempt_that_nobody_knows_is_not_settled(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        answer = await running.settle("never-admitted")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_attempt")


async def test_a_request_that_began_under_a_generation_ends_under_it(
    site: Site, plane: ControlPlane
) -> None:
    site.ready_pool("two", slots=2)
    plane.publish(bundle(2, pool="two", **PREFER))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(2))
        began = (await running.admit("r1", tenant_class="standard")).json()
        assert (began["action"], began["route"], began["pool"]) == ("fallback", "compact", "two")
        plane.publish(bundle(3))
        await plane.until(lambda: plane.activated(3))
        later = (await running.admit("r2", tenant_class="standard")).json()
        assert (later["action"], later["pool"], later["publication"]) == ("admit", "one", 3)
        open_sequences = (await running.status())["open_sequences"]
        assert open_sequences == {began["digest"]: 1, later["digest"]: 1}
        await running.settle(began["attempt_id"])
        await running.settle(later["attempt_id"])
        await plane.until(lambda: len(plane.records) == 2)
        assert (await running.status())["open_sequences"] == {}
    by_id = {record.request_id: record for record in plane.records}
    assert (by_id["r1"].publication, by_id["r1"].digest) == (2, began["digest"])
    assert by_id["r1"].attempts[0].teu_observed == 21  # compact's factor is a half
    assert by_id["r2"].publication == 3


async def test_the_same_request_again_joins_its_open_attempt(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        answers = await asyncio.gather(*(running.admit("r1") for _ in range(3)))
        assert len({answer.json()["attempt_id"] for answer in answers}) == 1
        assert len(running.edge.service.requests.open) == 1


async def waits(running: Running, request_id: str) -> None:
    """Let the edge run until the request is in the queue of pool one."""
    async with asyncio.timeout(30):
        queue = running.edge.service.state.pools["one"].lanes[0].queue
        while request_id not in queue:  # noqa: ASYNC110 (a set in memory has no event)
            await asyncio.sleep(0)


async def test_over_the_knee_requests_wait_in_order_for_a_release(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        running_now = [(await running.admit(f"r{n}")).json()["attempt_id"] for n in range(4)]
        first = asyncio.create_task(running.admit("q1"))
        await waits(running, "q1")
        second = asyncio.create_task(running.admit("q2"))
        await waits(running, "q2")
        await running.settle(running_now[0])
        assert (await first).status_code == 200
        assert not second.done()
        await running.settle(running_now[1])
        assert (await second).status_code == 200


async def test_who_waits_past_the_last_moment_leaves_with_the_deadline(
    site: Site, plane: ControlPlane
) -> None:
    site.ready_pool("one", slots=8)  # the knee is 4: slots are free, the limit is not
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        for n in range(4):
            await running.admit(f"r{n}")
        answer = await running.admit("q1", deadline_ms=500, **{"class": "form"})
        assert answer.json()["reason"] == "deadline_infeasible"
        assert not running.edge.service.state.pools["one"].lanes[0].queue


async def test_what_was_never_dispatched_is_released_at_once(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grants = [(await running.admit(f"r{n}")).json()["attempt_id"] for n in range(2)]
        asked = await running.client.post("/v1/cancel", json={"attempt_id": grants[0]})
        undispatched = {"attempt_id": grants[1], "dispatched": False}
        released = await running.client.post("/v1/cancel", json=undispatched)
        assert (asked.json(), released.json()) == ({"state": "asked"}, {"state": "released"})
        assert set(running.edge.service.state.live) == {grants[0]}
        await running.settle(grants[0], status="cancelled")
        await plane.until(lambda: len(plane.records) == 2)
    assert {record.outcome for record in plane.records} == {"cancelled"}
    assert all(record.attempts[0].cancel_requested_ms is not None for record in plane.records)


async def test_an_attempt_that_nobody_settles_is_lost_and_gives_its_place_back(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        service = running.edge.service
        await running.admit("r1")
        (held,) = service.state.live.values()
        service.now_ms = lambda: held.expires_ms
        assert await service.expire() == 1
        assert (service.state.live, service.requests.open) == ({}, {})
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.outcome, record.released) == ("lost", False)


async def test_metrics_count_decisions_by_reason(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await running.admit("r1")
        text = (await running.client.get("/metrics")).text
    decided = 'orchid_edge_decisions_total{action="admit",reason="requested",route="full"} 1.0'
    assert decided in text
    assert "orchid_edge_publication 3.0" in text
