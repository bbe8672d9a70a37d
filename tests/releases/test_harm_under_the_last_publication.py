"""A stage is published while edges still serve by the one before it: harm seen there counts."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from gates.models import Evaluation
from policies.models import Product
from releases.models import EdgeSeen, Publication, Rollout
from releases.services import rollout as moves
from releases.services.reconcile import reconcile
from releases.states import RolloutState
from tests.releases.releases_cast import actor, judged, says
from tests.releases.stage_cast import candidate_window, fresh, passes
from tests.releases.traffic_cast import Gateway, at, canaried, living, ticks

STAGES: list[dict[str, Any]] = [{"canary": share, "hold": "20s"} for share in (0.5, 0.75, 1.0)]
BAD = 9_000.0
Next = Callable[[Product, Rollout], object]


@pytest.fixture
def gateway(product: Product) -> Gateway:
    return living(product)


def advanced(product: Product, rollout: Rollout) -> Rollout:
    """A pass lets it go on; the edge has not heard of that."""
    passes(rollout)
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 1
    return fresh(rollout)


def paused(product: Product, rollout: Rollout) -> Rollout:
    return moves.pause(actor("dee"), fresh(rollout), "a look first")


def resumed(product: Product, rollout: Rollout) -> Rollout:
    return moves.resume(actor("dee"), paused(product, rollout), "it was the load test")


def harmed(gateway: Gateway, before: Publication) -> None:
    """Requests that ran under `before` are told and judged."""
    for cohort in ("candidate", "incumbent"):
        gateway.delivers(before, cohort, 250, BAD, within_s=200)
    EdgeSeen.objects.filter(edge=gateway.edge).update(at=timezone.now())
    ticks()
    found = Evaluation.objects.filter(watch__window__publication=before.number, verdict="fail")
    assert found.exists()


@pytest.mark.parametrize(
    ("then", "on_breach", "ends"),
    [
        (advanced, "rollback", RolloutState.ROLLED_BACK),
        (advanced, "pause", RolloutState.PAUSED),
        (paused, "rollback", RolloutState.ROLLED_BACK),
        (paused, "pause", RolloutState.PAUSED),
        (resumed, "rollback", RolloutState.ROLLED_BACK),
    ],
)
def test_harm_where_an_edge_has_not_taken_what_follows(
    product: Product, gateway: Gateway, then: Next, on_breach: str, ends: RolloutState
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach=on_breach)
    before = rollout.publication
    then(product, rollout)
    harmed(gateway, before)
    assert fresh(rollout).state == ends
    if then is advanced:
        assert f"requests of publication {before.number} before it" in fresh(rollout).reason


def test_what_a_person_resumed_over_stops_nothing_again(product: Product, gateway: Gateway) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach="pause")
    harmed(gateway, rollout.publication)
    assert fresh(rollout).state == RolloutState.PAUSED
    moves.resume(actor("dee"), fresh(rollout), "it was the load test")
    harmed(gateway, rollout.publication)
    assert fresh(rollout).state == RolloutState.RUNNING


def test_harm_that_is_told_after_the_fleet_has_gone_on(product: Product, gateway: Gateway) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach="rollback")
    before = rollout.publication
    says(gateway.edge, advanced(product, rollout).publication, at=timezone.now())
    ticks()
    assert fresh(rollout).stage_opened_at is not None
    harmed(gateway, before)
    assert fresh(rollout).state == RolloutState.ROLLED_BACK


def test_money_that_falls_short_as_edges_leave_stops_nothing(
    product: Product, gateway: Gateway
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach="rollback")
    window = candidate_window(rollout)
    advanced(product, rollout)
    row = {"segment": "", "verdict": "fail", "bound": "1", "n": 9, "n_effective": 9, "minimum": 1}
    cost = "cost_per_success_usd"
    for metric in (cost, f"accepted:{cost}", "guardrail:success_per_s"):
        low = judged(window, "fail", timezone.now())
        low.verdicts.create(metric=metric, message="low", **row)
        reconcile(product.pk, timezone.now())
    assert fresh(rollout).state == RolloutState.RUNNING
    low.verdicts.create(metric="attainment", message="low", **row)
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).state == RolloutState.ROLLED_BACK
