"""Moves that meet on one request: whoever comes in between finds it where it stands, and once."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from orchid.edge.journal import Journal
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_process import process
from tests.edge.edge_site import ASYNC, TOO_SOON, Running, Site

RETRIED: dict[str, Any] = {
    "admission__retry": {"budget": 1.0, "after_ms": [200, 2000], "window": "1h"}
}
FAILED = {"status": "failed", "final": False, "policy_valid": None, "schema_valid": None}


class Gate:
    """Holds one move at the journal until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, move: str) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        passed: Callable[..., Any] = getattr(Journal, move)

        async def held(*given: Any) -> None:
            self.reached.set()
            await self.open.wait()
            await passed(*given)

        monkeypatch.setattr(Journal, move, held)


@pytest.mark.parametrize("ending", ["settle", "cancel", "refuse", "defer"])
async def test_while_a_request_ends_its_id_begins_no_other(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        last: Any
        if ending in ("settle", "cancel"):
            attempt_id = (await running.admit("r1")).json()["attempt_id"]
        gate = Gate(monkeypatch, "ended")
        if ending == "settle":
            last = running.settle(attempt_id)
        elif ending == "cancel":
            given_up = {"attempt_id": attempt_id, "dispatched": False}
            last = running.client.post("/v1/cancel", json=given_up)
        else:
            last = running.admit("r1", **({"deadline_ms": 1} if ending == "refuse" else TOO_SOON))
        ends = asyncio.create_task(last)
        await gate.reached.wait()
        again = asyncio.create_task(running.admit("r1", tenant="-", **_same(ending)))
        await asyncio.sleep(0)
        gate.open.set()
        await ends
        answer = await again
        assert answer.json().get("attempt_id") is None
        await plane.until(lambda: bool(plane.records))
        assert not running.edge.service.requests.open
    assert [record.request_id for record in plane.records] == ["r1"]


def _same(ending: str) -> dict[str, Any]:
    return dict(TOO_SOON) if ending == "defer" else {}


async def test_a_settle_while_others_expire_is_no_fault_of_theirs(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grants = [(await running.admit(name)).json() for name in ("r1", "r2")]
        service = running.edge.service
        late_ms = service.now_ms() + 60_000
        service.now_ms = lambda: late_ms
        gate = Gate(monkeypatch, "ended")
        expires = asyncio.create_task(service.expire())
        await gate.reached.wait()
        settles = asyncio.create_task(running.settle(grants[1]["attempt_id"]))
        await asyncio.sleep(0.01)
        gate.open.set()
        await settles
        await expires
        await plane.until(lambda: len(plane.records) == 2)
        assert not service.requests.open
    assert sorted(record.request_id for record in plane.records) == ["r1", "r2"]


async def test_a_retry_while_rested_requests_are_closed_is_no_second_record(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.publish(bundle(3, **RETRIED))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        for name in ("r1", "r2"):
            grant = (await running.admit(name)).json()
            await running.settle(grant["attempt_id"], **FAILED)
        service = running.edge.service
        late_ms = service.now_ms() + 60_000
        service.now_ms = lambda: late_ms
        gate = Gate(monkeypatch, "ended")
        expires = asyncio.create_task(service.expire())
        await gate.reached.wait()
        again = [asyncio.create_task(running.admit(name)) for name in ("r1", "r2")]
        await asyncio.sleep(0.01)
        gate.open.set()
        await expires
        assert all(answer.status_code >= 400 for answer in await asyncio.gather(*again))
        await plane.until(lambda: len(plane.records) == 2)
    assert sorted(record.request_id for record in plane.records) == ["r1", "r2"]


async def test_after_a_kill_the_same_request_joins_the_attempt_it_was_promised(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    ask: dict[str, Any] = {"class": "chat", "deadline_ms": 60_000, "tenant": "a"}
    async with process(site) as (edge, client):
        first = (await client.post("/v1/admit", json={"request_id": "r1", **ask})).json()
        edge.send_signal(signal.SIGKILL)
        await edge.wait()
    async with site.edge() as running:
        again = (await running.admit("r1", **ask)).json()
        assert {**again, "early_stop": None} == {**first, "early_stop": None}
        other = await running.admit("r1", tenant="b")
        assert (other.status_code, other.json()["code"]) == (409, "request_differs")
        assert (await running.settle(first["attempt_id"])).json()["settled"] is True
        assert (await running.settle(first["attempt_id"])).json()["settled"] is False
        assert (await running.admit("r1", **ask)).status_code == 409
        await plane.until(lambda: bool(plane.records))
    assert [(r.request_id, len(r.attempts)) for r in plane.records] == [("r1", 1)]


@pytest.mark.parametrize("asked", [{"deadline_ms": 1}, TOO_SOON], ids=["refused", "deferred"])
async def test_nobody_reads_the_answer_of_another_tenant_by_its_request_id(
    site: Site, plane: ControlPlane, asked: dict[str, Any]
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))

        def ask(tenant: str) -> Any:
            body = {"request_id": "r1", "class": "chat", "tenant": tenant, **asked}
            return running.client.post("/v1/admit?explain=1", json=body)

        first, second = await asyncio.gather(ask("a"), ask("b"))
    mine, theirs = sorted((first, second), key=lambda answer: answer.status_code == 409)
    assert (theirs.status_code, theirs.json()["code"]) == (409, "request_differs")
    assert mine.json()["constraints"]


async def _resting(running: Running, request_id: str, **given: Any) -> dict[str, Any]:
    grant: dict[str, Any] = (await running.admit(request_id, **given)).json()
    await running.settle(grant["attempt_id"], **FAILED)
    return grant


@pytest.mark.parametrize("again", [{}, TOO_SOON], ids=["granted", "deferred"])
async def test_a_next_attempt_continues_what_its_first_did_and_nothing_else(
    site: Site, plane: ControlPlane, again: dict[str, Any]
) -> None:
    plane.publish(bundle(3, **ASYNC, **RETRIED))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await running.admit("theirs", tenant="a", **TOO_SOON)
        deferred = running.edge.service.requests.deferred
        before = deferred["theirs"]
        await _resting(running, "mine", tenant="b", **{**TOO_SOON, "deadline_ms": 1000})
        await running.admit("mine", tenant="b", continues="theirs", **{**TOO_SOON, **again})
        assert deferred["theirs"] == before
        run: httpx.Response = await running.admit(
            "run", tenant="a", continues="theirs", **{**TOO_SOON, "deadline_ms": 1000}
        )
        assert run.status_code == 200


async def test_the_id_of_deferred_work_is_taken_for_as_long_as_the_work_is_kept(
    site: Site, plane: ControlPlane
) -> None:
    hours = {"deadline": "2d", "max_queue_age": "1d", "after": "1s"}
    plane.publish(bundle(3, classes__report={**ASYNC["classes__report"], "deferral": hours}))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await running.admit("r1", tenant="a", **TOO_SOON)
        service = running.edge.service
        kept = service.requests.deferred["r1"]
        later_ms = service.now_ms() + 2 * 3_600_000
        service.now_ms = lambda: later_ms
        await service.forget()
        answer = await running.admit("r1", tenant="b", **TOO_SOON)
        assert (answer.status_code, answer.json()["code"]) == (409, "request_ended")
        assert service.requests.deferred["r1"] == kept


async def test_a_request_named_like_an_attempt_is_answered_as_any_other(
    site: Site, plane: ControlPlane
) -> None:
    site.ready_pool("one", slots=1)
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        attempt_id = (await running.admit("r1")).json()["attempt_id"]
        waits = asyncio.create_task(running.admit(attempt_id))
        await asyncio.sleep(0.05)
        await running.settle(attempt_id)
        assert (await waits).status_code == 200
