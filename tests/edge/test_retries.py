"""A request may be tried again while it is open: one id, one record, and a budget for all."""

import asyncio
import signal
from typing import Any

import httpx
import pytest

from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_process import process
from tests.edge.edge_site import Running, Site

GENEROUS: dict[str, Any] = {
    "admission__retry": {"budget": 1.0, "after_ms": [200, 2000], "window": "1h"}
}
ALL_FAIL = {"status": "failed", "policy_valid": None, "schema_valid": None}


async def failed(running: Running, attempt_id: str, **given: Any) -> httpx.Response:
    return await running.settle(attempt_id, **{**ALL_FAIL, "final": False, **given})


async def test_the_same_request_again_is_its_next_attempt_and_all_are_one_record(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **GENEROUS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        first = (await running.admit("r1")).json()
        rests = await failed(running, first["attempt_id"])
        assert rests.json()["settled"] is True
        assert rests.json()["open_until"] == first["deadline_at"]
        second = (await running.admit("r1")).json()
        assert (first["attempt"], second["attempt"]) == (1, 2)
        assert second["attempt_id"] != first["attempt_id"]
        assert second["deadline_at"] == first["deadline_at"]
        await running.settle(second["attempt_id"])
        await plane.until(lambda: bool(plane.records))
        assert "orchid_edge_retries_total 1.0" in (await running.client.get("/metrics")).text
    (record,) = plane.records
    assert (record.outcome, record.completion_ms) == ("completed", 300.0)
    assert [attempt.status for attempt in record.attempts] == ["failed", "completed"]
    assert [attempt.attempt_id for attempt in record.attempts] == [
        first["attempt_id"],
        second["attempt_id"],
    ]
    starts = [attempt.start_ms or 0.0 for attempt in record.attempts]
    assert starts[0] < starts[1]


async def test_an_attempt_that_nobody_tries_again_is_the_last_word(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **GENEROUS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        await failed(running, grant["attempt_id"])
        service = running.edge.service
        assert (await running.status())["open_sequences"] == {grant["digest"]: 1}
        assert await service.expire() == 0
        rests = service.requests.resting["r1"]
        service.now_ms = lambda: rests.expires_ms
        assert await service.expire() == 1
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.outcome, record.released, len(record.attempts)) == ("failed", True, 1)


async def test_a_request_has_so_many_attempts_and_no_more(site: Site, plane: ControlPlane) -> None:
    rules = {**GENEROUS["admission__retry"], "attempts_per_request": 2}
    plane.publish(bundle(3, admission__retry=rules))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        first = (await running.admit("r1")).json()
        await failed(running, first["attempt_id"])
        second = (await running.admit("r1")).json()
        last = await failed(running, second["attempt_id"])
        assert last.json()["settled"] is True
        assert "open_until" not in last.json()
        again = await running.admit("r1")
        assert (again.status_code, again.json()["code"]) == (409, "request_ended")


async def test_over_the_retry_budget_the_answer_says_when_it_is_reset_and_that_it_is_final(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))  # a tenth of one first try is no attempt at all
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        await failed(running, grant["attempt_id"])
        answer = await running.admit("r1")
        refusal = answer.json()
        assert (answer.status_code, refusal["reason"]) == (503, "retry_budget")
        assert (refusal["retryable"], refusal["budget"]) == (False, "retry")
        assert 0 < refusal["after_ms"] <= 10_000
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.outcome, len(record.attempts)) == ("failed", 1)


async def test_an_id_is_never_used_again_not_even_after_a_restart(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("served")).json()
        await running.settle(grant["attempt_id"])
        await running.admit("refused", deadline_ms=1)
        for name in ("served", "refused"):
            again = await running.admit(name)
            assert (again.status_code, again.json()["code"]) == (409, "request_ended")
            assert "new request_id" in again.json()["detail"]
    async with site.edge() as running:
        assert (await running.admit("served")).status_code == 409
        assert (await running.admit("refused")).status_code == 409
        later = running.edge.service
        at = later.now_ms() + 3_600_001
        later.now_ms = lambda: at
        await later.forget()
        assert not later.requests.ended


@pytest.mark.parametrize("other", [{"tenant": "b"}, {"class": "form"}])
async def test_another_request_does_not_pass_for_a_retry(
    site: Site, plane: ControlPlane, other: dict[str, str]
) -> None:
    plane.publish(bundle(3, **GENEROUS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1", tenant="a")).json()
        await failed(running, grant["attempt_id"])
        answer = await running.admit("r1", **{"tenant": "a", **other})
        assert (answer.status_code, answer.json()["code"]) == (409, "request_differs")
        assert "r1" in running.edge.service.requests.resting


async def test_nobody_gets_the_grant_of_another_tenant_by_its_request_id(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        together = await asyncio.gather(*(running.admit("r1", tenant=name) for name in "ab"))
        later = await running.admit("r1", tenant="c")
    assert sorted(answer.status_code for answer in together) == [200, 409]
    assert (later.status_code, later.json()["code"]) == (409, "request_differs")


async def test_a_request_whose_generation_is_served_no_more_is_over(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **GENEROUS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        await failed(running, grant["attempt_id"])
        plane.publish(bundle(4, contract__deadline_ms=900, **GENEROUS))
        await plane.until(lambda: plane.activated(4))
        answer = await running.admit("r1")
        assert (answer.status_code, answer.json()["code"]) == (409, "request_ended")
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert (record.outcome, record.publication) == ("failed", 3)


async def test_what_was_served_needs_no_other_attempt(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        answer = await running.settle("any", final=False)
        assert answer.status_code == 400
        assert "final is true where the status is completed" in answer.json()["detail"]


async def test_asking_twice_while_a_retry_waits_is_one_attempt(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **GENEROUS))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grant = (await running.admit("r1")).json()
        await failed(running, grant["attempt_id"])
        answers = await asyncio.gather(*(running.admit("r1") for _ in range(3)))
        assert {answer.json()["attempt"] for answer in answers} == {2}
        assert len(running.edge.service.requests.open) == 1


async def test_a_kill_between_two_attempts_loses_neither(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(1, **GENEROUS))
    ask = {"class": "chat", "deadline_ms": 60_000, "request_id": "r1"}
    async with process(site) as (edge, client):
        first = (await client.post("/v1/admit", json=ask)).json()
        end = {"attempt_id": first["attempt_id"], "status": "failed", "final": False}
        assert (await client.post("/v1/settle", json=end)).json()["settled"] is True
        edge.send_signal(signal.SIGKILL)
        await edge.wait()
    async with site.edge() as running:
        assert (await running.admit("r2")).status_code == 200  # a first try to be a share of
        second = (await running.admit("r1")).json()
        assert second["attempt"] == 2
        await running.settle(second["attempt_id"])
        await plane.until(lambda: any(r.request_id == "r1" for r in plane.records))
    (record,) = [r for r in plane.records if r.request_id == "r1"]
    assert [attempt.status for attempt in record.attempts] == ["failed", "completed"]
