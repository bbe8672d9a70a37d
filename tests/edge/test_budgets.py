"""Budgets over HTTP: requests that come at once share one account, and each ends its own part."""

import asyncio
from typing import Any

from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Running, Site

CAPPED = {"tenant": "acme", "window": "1d", "max_teu": 1000}
ASKED: dict[str, Any] = {  # 400 TEU: output alone
    "tenant": "acme",
    "input_tokens": 0,
    "max_output_tokens": 400,
    "deadline_ms": 600_000,
}


async def at_once(running: Running, *names: str) -> list[str]:
    """The attempts that were admitted of requests that arrive together."""
    answers = await asyncio.gather(*(running.admit(name, **ASKED) for name in names))
    refused = [answer.json() for answer in answers if answer.status_code != 200]
    assert {refusal["reason"] for refusal in refused} <= {"budget_exhausted"}
    return [answer.json()["attempt_id"] for answer in answers if answer.status_code == 200]


async def five_admitted(running: Running, plane: ControlPlane, **changes: Any) -> list[str]:
    plane.publish(bundle(3, **{"budgets": [CAPPED], **changes}))
    await plane.until(lambda: plane.activated(3))
    return await at_once(running, *(f"r{n}" for n in range(5)))


async def test_of_five_at_once_as_many_are_admitted_as_the_budget_holds(
    site: Site, plane: ControlPlane
) -> None:
    async with site.edge() as running:
        assert len(await five_admitted(running, plane)) == 2
        refused = await running.admit("late", **ASKED)
        assert (refused.status_code, refused.json()["reason"]) == (429, "budget_exhausted")
        assert refused.json()["scope"] == "tenant"


async def test_what_an_attempt_did_not_use_admits_another(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        for attempt_id in await five_admitted(running, plane):
            charge = (await running.settle(attempt_id, output_tokens=250)).json()["charge"]
            assert (charge["used_teu"], charge["refunded_teu"]) == ("250.00", "150.00")
        assert len(await at_once(running, "s0", "s1")) == 1


async def test_what_was_cancelled_before_dispatch_returns_whole(
    site: Site, plane: ControlPlane
) -> None:
    async with site.edge() as running:
        for attempt_id in await five_admitted(running, plane):
            undispatched = {"attempt_id": attempt_id, "dispatched": False}
            answer = await running.client.post("/v1/cancel", json=undispatched)
            assert answer.json() == {"state": "released"}
        assert len(await at_once(running, *(f"s{n}" for n in range(5)))) == 2


async def test_a_request_that_one_limit_refuses_consumes_no_other(
    site: Site, plane: ControlPlane
) -> None:
    hourly = {**CAPPED, "window": "1h", "max_teu": 300}
    async with site.edge() as running:
        assert not await five_admitted(running, plane, budgets=[CAPPED, hourly])
        status = await running.status()
        assert status["open_sequences"] == {}
        plane.publish(bundle(4, budgets=[CAPPED]))
        await plane.until(lambda: plane.activated(4))
        assert len(await at_once(running, *(f"s{n}" for n in range(5)))) == 2
