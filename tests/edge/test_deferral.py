"""Work that may wait is put off under an id that is kept, and runs once, by its first arrival."""

import signal
from datetime import datetime
from typing import Any

import httpx

from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_process import process
from tests.edge.edge_site import ASYNC, TOO_SOON, Running, Site


async def put_off(running: Running, request_id: str, **given: Any) -> httpx.Response:
    return await running.admit(request_id, **{**TOO_SOON, **given})


async def run(running: Running, request_id: str, continues: str, **given: Any) -> httpx.Response:
    ask = {"class": "report", "deadline_ms": 1000, "continues": continues, **given}
    return await running.admit(request_id, **ask)


async def test_it_is_told_when_to_come_back_and_until_when(site: Site, plane: ControlPlane) -> None:
    published = bundle(3, **ASYNC)
    plane.publish(published)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        before_ms = running.edge.service.now_ms()
        answer = await put_off(running, "r1")
        body = answer.json()
        assert (answer.status_code, body["deferred"]) == (202, "r1")
        assert (body["reason"], body["generation"]) == (
            "deferred",
            published.generations.incumbent.digest,
        )
        assert 1000 <= body["after_ms"] <= 3000
        assert int(answer.headers["Retry-After"]) >= 1
        until_ms = datetime.fromisoformat(body["until"]).timestamp() * 1000
        assert abs(until_ms - before_ms - 300_000) < 2000
        assert (await running.status())["deferred"] == 1
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert record.outcome == "deferred"
    assert record.decision is not None
    assert (record.decision.action, record.decision.reason) == ("defer", "deferred")


async def test_a_later_run_is_a_request_of_its_own_that_continues_it(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await put_off(running, "r1")
        grant = (await run(running, "r2", "r1")).json()
        assert grant["action"] == "admit"
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: len(plane.records) == 2)
    by_id = {record.request_id: record for record in plane.records}
    assert by_id["r2"].continues == "r1"
    assert (by_id["r1"].outcome, by_id["r2"].outcome) == ("deferred", "completed")


async def test_deferred_again_it_keeps_its_id_and_its_first_arrival(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        first = (await put_off(running, "r1")).json()
        second = (await put_off(running, "r2", continues="r1")).json()
        assert second["deferred"] == "r1"
        assert second["until"] == first["until"]
        assert (await run(running, "r3", "r1")).status_code == 200


async def test_it_runs_once(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await put_off(running, "r1")
        await run(running, "r2", "r1")
        answer = await run(running, "r3", "r1")
        assert (answer.status_code, answer.json()["code"]) == (409, "deferral_taken")
        assert "r2" in answer.json()["detail"]


async def test_what_was_never_deferred_here_is_unknown_and_so_is_what_another_tenant_deferred(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await put_off(running, "r1", tenant="a")
        for name, tenant in (("nothing", "a"), ("r1", "b")):
            answer = await run(running, f"run-{name}", name, tenant=tenant)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_deferral")


async def test_after_its_until_it_is_too_old_to_run(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await put_off(running, "r1")
        service = running.edge.service
        later_ms = service.requests.deferred["r1"].until_ms + 1
        service.now_ms = lambda: later_ms
        answer = await run(running, "r2", "r1")
        assert (answer.status_code, answer.json()["code"]) == (409, "deferral_over")
        assert "until" in answer.json()["detail"]


async def test_a_refused_run_leaves_the_work_to_be_run_later(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, **ASYNC))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await put_off(running, "r1")
        too_long = await run(running, "r2", "r1", input_tokens=100_000)
        assert too_long.status_code == 422
        assert (await run(running, "r3", "r1")).status_code == 200


async def test_a_kill_after_the_answer_loses_neither_the_record_nor_the_work(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1, **ASYNC))
    plane.ingest_status = 503
    async with process(site) as (edge, client):
        answer = await client.post("/v1/admit", json={"request_id": "r1", **TOO_SOON})
        assert answer.status_code == 202
        edge.send_signal(signal.SIGKILL)
        await edge.wait()
    plane.ingest_status = 202
    async with site.edge() as running:
        grant = (await run(running, "r2", "r1")).json()
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: len(plane.records) == 2)
    assert {r.request_id: r.outcome for r in plane.records} == {
        "r1": "deferred",
        "r2": "completed",
    }
