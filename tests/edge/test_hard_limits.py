"""While a candidate's limits hold, the incumbent decides under the tighter of both."""

from typing import Any

import pytest

from orchid.engine.shadow.differences import difference
from orchid.engine.wire.shadow import ShadowRecord
from tests.edge.control_plane import ControlPlane
from tests.edge.edge_site import Running, Site
from tests.edge.shadow_site import early

BUDGET: dict[str, Any] = {"budgets": [{"tenant": "*", "window": "1h", "max_teu": 60}]}
HELD: dict[str, Any] = {
    "admission__live_tokens": {"per_device": 100_000, "per_tenant": 200, "per_request": 8_000}
}


async def lines(running: Running, plane: ControlPlane, count: int) -> dict[str, ShadowRecord]:
    await plane.until(lambda: len(plane.shadows) >= count)
    return {one.request_id: one for one in plane.shadows}


@pytest.mark.parametrize(
    ("limit", "reason", "status"),
    [
        (BUDGET, "budget_exhausted", 429),
        (HELD, "tenant_live_tokens", 429),
        ({"models__full__max_sequences": 1}, "memory_infeasible", 503),
    ],
)
async def test_what_the_candidates_limits_refuse_is_refused_and_told_apart(
    site: Site, plane: ControlPlane, limit: dict[str, Any], reason: str, status: int
) -> None:
    plane.publish(early("hard_limits", **limit))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        assert (await running.admit("r1", tenant="t1")).status_code == 200
        refused = await running.admit("r2", tenant="t1")
        sent = await lines(running, plane, 2)
    assert (refused.status_code, refused.json()["reason"]) == (status, reason)
    assert {name: difference(one.incumbent, one.candidate) for name, one in sent.items()} == {
        "r1": "same",
        "r2": "refuses",
    }
    line = sent["r2"]
    assert (line.mode, line.incumbent.route, line.candidate.reason) == (
        "hard_limits",
        "full",
        reason,
    )


async def test_requests_are_recorded_under_the_incumbent_that_decides(
    site: Site, plane: ControlPlane
) -> None:
    published = early("hard_limits", **BUDGET)
    plane.publish(published)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        grant = (await running.admit("r1")).json()
        await running.settle(grant["attempt_id"])
        await plane.until(lambda: bool(plane.records))
    (record,) = plane.records
    incumbent = published.generations.incumbent.digest
    assert (record.digest, record.cohort) == (incumbent, "incumbent")
    assert grant["route"] == "full"


async def test_a_limit_that_the_candidate_loosens_holds_as_it_was(
    site: Site, plane: ControlPlane
) -> None:
    wide: dict[str, Any] = {"budgets": [{"tenant": "*", "window": "1h", "max_teu": 9000}]}
    plane.publish(early("hard_limits", incumbent=BUDGET, **wide))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1", tenant="t1")
        refused = await running.admit("r2", tenant="t1")
        sent = await lines(running, plane, 2)
    assert refused.json()["reason"] == "budget_exhausted"
    assert difference(sent["r2"].incumbent, sent["r2"].candidate) == "same"
    assert sent["r2"].incumbent.budget_used is not None


async def test_at_the_safe_floor_no_limit_of_a_candidate_holds(
    site: Site, plane: ControlPlane
) -> None:
    from tests.edge.test_expiry import FLOOR, expired

    published = early("hard_limits", incumbent=FLOOR, **BUDGET)
    plane.publish(published)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1", tenant="t1")
        expired(running, published)
        assert (await running.status())["decided_twice"]["mode"] is None
        assert (await running.admit("r2", tenant="t2", deadline_ms=450)).status_code == 503
        (held,) = running.edge.service.requests.open
        await running.settle(held)
        assert (await running.admit("r3", tenant="t1")).status_code == 200
