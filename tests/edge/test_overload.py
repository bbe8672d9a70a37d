"""Pressure is seen, acted on and told: rungs, their figures, the constraints of a decision."""

import asyncio
from typing import Any

import pytest

from orchid.engine.admission.decide import decide
from orchid.engine.admission.request import AdmissionRequest, Decision
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Running, Site

ROOMY: dict[str, Any] = {"admission__concurrency": {"mode": "static_knee", "per_replica": 8}}


async def pressed(running: Running) -> None:
    """Four at once on four slots, each with seconds of work: the next would wait for one.

    The edge looks again, as its timer does: requests that come together share a look.
    """
    for n in range(4):
        assert (await running.admit(f"busy{n}", max_output_tokens=200)).status_code == 200
    running.edge.service.fleet.observe_all()


async def test_under_pressure_compact_goes_first_and_the_record_says_which_rung(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, overload=["compact_fallback"], **ROOMY))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await pressed(running)
        answer = await running.admit("r1", tenant_class="standard", deadline_ms=20_000)
        grant = answer.json()
        assert (grant["action"], grant["reason"]) == ("fallback", "fallback_overload")
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert record.load_state == "compact_fallback"
    assert "load_state" not in record.segment


async def test_a_document_that_names_the_load_state_has_requests_counted_by_it(
    site: Site, plane: ControlPlane
) -> None:
    dimensions = ["task", "tenant_class", "load_state"]
    plane.publish(bundle(3, segments__dimensions=dimensions))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        answer = await running.admit("r1")
        await running.settle(answer.json()["attempt_id"])
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    assert record.segment["load_state"] == record.load_state == "normal"


async def test_a_rung_change_is_an_event_with_its_figures_in_status_and_metrics(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3, overload=["compact_fallback"], **ROOMY))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        await pressed(running)
        await running.admit("r1", deadline_ms=20_000)
        status = await running.status()
        running.edge.service.fleet.observe_all()
        text = (await running.client.get("/metrics")).text
    assert status["overload"]["one"]["rung"] == 4
    assert status["overload"]["one"]["compact_first"] == ["full"]
    (change,) = status["rung_changes"]
    assert (change["pool"], change["before"]) == ("one", "normal")
    assert change["queue_wait_ms"] > 250
    assert 'orchid_edge_overload_rung{pool="one"} ' in text
    assert 'orchid_edge_overload_changes_total{after="' in text
    assert 'orchid_edge_queue_wait_seconds{pool="one"} ' in text


async def test_a_decision_explains_each_constraint_with_its_arithmetic_when_asked(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        ask = {"request_id": "r1", "class": "chat", "deadline_ms": 50}
        answer = (await running.client.post("/v1/admit?explain=1", json=ask)).json()
        plain = (await running.admit("r2", deadline_ms=50)).json()
    time = next(one for one in answer["constraints"] if one["step"] == "time" and one["reason"])
    assert (time["option"], time["reason"]) == ("full", "deadline_infeasible")
    assert "prefill 10 + decode 400" in time["text"]
    assert plain["explained"]["full"] == "deadline_infeasible"
    assert "constraints" not in plain


async def test_one_release_asks_the_first_in_line_and_nobody_else(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[str] = []

    def noted(request: AdmissionRequest, *rest: Any, **named: Any) -> Decision:
        decided.append(request.request_id)
        return decide(request, *rest, **named)

    monkeypatch.setattr("orchid.edge.line.decide", noted)
    plane.publish(bundle(3, overload=[]))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        grants = [(await running.admit(f"r{n}")).json()["attempt_id"] for n in range(4)]
        queue = running.edge.service.state.pools["one"].lanes[0].queue
        waiting = []
        for n in range(3):
            waiting.append(asyncio.create_task(running.admit(f"q{n}")))
            async with asyncio.timeout(30):
                while len(queue) <= n:  # noqa: ASYNC110 (a queue in memory has no event)
                    await asyncio.sleep(0)
        await running.settle(grants[0])
        await waiting[0]
        assert decided.count("q2") == 1  # when it came, and not since
        for grant in grants[1:3]:
            await running.settle(grant)
        answers = await asyncio.gather(*waiting)
    assert {answer.status_code for answer in answers} == {200}
