"""A part of the fleet runs a candidate, the rest is silent: harm is seen, and nothing goes on."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from gates.models import Window
from gates.services import evaluate
from policies.models import Product
from releases.models import Edge, EdgeSeen, Rollout
from releases.services import reconcile as reconciling
from releases.services.override import judged_now
from releases.services.reconcile import reconcile
from releases.states import RolloutState
from tests.releases.desk import Desk
from tests.releases.releases_cast import SLUG, edge, judged, later, says
from tests.releases.stage_cast import candidate_window, fresh, passes
from tests.releases.traffic_cast import Gateway, at, canaried, live, living, ticks

STAGES: list[dict[str, Any]] = [{"canary": share, "hold": "20s"} for share in (0.5, 1.0)]
FINE, BAD = 400.0, 9_000.0


@pytest.fixture
def gateway(product: Product) -> Gateway:
    return living(product)


@pytest.fixture
def lagging(product: Product, gateway: Gateway) -> Edge:
    """It ran what is live, and isn't heard since."""
    silent = edge(product, "edge-2")
    says(silent, live(product), at=at(30))
    return silent


def serves(gateway: Gateway, rollout: Rollout, ms: float) -> None:
    """Both cohorts at the edge that runs it, within the last minutes."""
    for cohort in ("candidate", "incumbent"):
        gateway.delivers(fresh(rollout).publication, cohort, 250, ms, within_s=200)
    EdgeSeen.objects.filter(edge=gateway.edge).update(at=timezone.now())


@pytest.mark.parametrize(
    ("on_breach", "ends"),
    [("rollback", RolloutState.ROLLED_BACK), ("pause", RolloutState.PAUSED)],
)
def test_a_breach_at_one_edge_stops_what_another_has_not_acknowledged(
    gateway: Gateway, lagging: Edge, on_breach: str, ends: RolloutState
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach=on_breach)
    serves(gateway, rollout, BAD)
    ticks()
    told = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (told["state"], told["stage_opened_at"]) == (ends, None), told["blockers"]


def test_a_pass_at_one_edge_moves_nothing_and_begins_anew_with_the_fleet(
    product: Product, gateway: Gateway, lagging: Edge
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES)
    serves(gateway, rollout, FINE)
    for _ in range(3):
        ticks()
    found = Desk("dee").reads(f"rollouts/{rollout.pk}")
    assert (found["stage_index"], found["stage_opened_at"]) == (0, None)
    window = candidate_window(rollout)
    seen = evaluate(window.pk, timezone.now())
    assert (seen.action, seen.verdict) == ("hold", "inconclusive")
    assert "too few edges run the stage" in seen.why
    whole = {row.metric: row for row in seen.verdicts.filter(segment="")}
    assert whole["attainment"].n == 750
    assert whole["cost_per_success_usd"].verdict == "no_data"  # paid for all, served by a part

    says(lagging, rollout.publication)
    EdgeSeen.objects.update(at=timezone.now())
    ticks()
    rollout, window = fresh(rollout), candidate_window(rollout)
    assert rollout.stage_opened_at == window.opens_at
    assert window.hold_until == window.opens_at + timedelta(seconds=20)
    again = evaluate(window.pk, timezone.now())
    assert {row.metric: row.n for row in again.verdicts.filter(segment="")}["attainment"] == 0


def test_the_candidate_has_a_part_of_what_both_were_asked_before_its_clock_runs(
    client: Client, gateway: Gateway, lagging: Edge
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES)
    serves(gateway, rollout, FINE)
    ticks()
    assert candidate_window(rollout).is_ahead
    whole, *strata = Desk("dee").reads(f"rollouts/{rollout.pk}")["exposure"]
    assert (whole["requests"], whole["of_requests"], whole["by_requests"]) == (750, 1_500, 0.5)
    assert {one["by_teu"] for one in strata} == {0.5}
    client.force_login(User.objects.get(username="dee"))
    page = client.get(reverse("releases:rollout", args=[SLUG])).content.decode()
    assert "750 of 1,500" in page
    assert "before that, since the first edge ran it" in page


def test_what_is_judged_before_the_clock_runs_is_not_overridden(
    client: Client, gateway: Gateway, lagging: Edge
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES)
    serves(gateway, rollout, FINE)
    ticks()
    seen = judged_now(fresh(rollout))
    assert seen is not None
    assert seen.verdict == "inconclusive"
    asked: dict[str, Any] = {"evaluation": seen.pk, "reason": "the nightly batch"}
    status, told = Desk("dee").asks(f"rollouts/{rollout.pk}/overrides", **asked)
    assert (status, told["code"]) == (409, "not_overridable"), told
    assert "Too few edges" in told["detail"]
    client.force_login(User.objects.get(username="dee"))
    page = client.get(reverse("releases:rollout", args=[SLUG])).content.decode()
    assert "Ask for an override" not in page


def test_a_pass_of_a_part_of_the_fleet_never_advances(
    product: Product, gateway: Gateway, lagging: Edge
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES)
    judged(candidate_window(rollout), "pass", timezone.now())
    for seconds in (1, 600):
        EdgeSeen.objects.filter(edge=gateway.edge).update(at=later(seconds))
        judged(candidate_window(rollout), "pass", later(seconds))
        reconcile(product.pk, later(seconds))
    assert fresh(rollout).stage_index == 0
    says(lagging, rollout.publication, at=later(600))
    EdgeSeen.objects.update(at=later(601))
    reconcile(product.pk, later(601))
    reconcile(product.pk, later(640))  # the hold is over, and what was judged before is gone
    assert fresh(rollout).stage_opened_at is not None
    assert fresh(rollout).stage_index == 0
    passes(rollout, later(645))
    reconcile(product.pk, later(646))
    assert fresh(rollout).stage_index == 1


def test_harm_that_is_judged_as_the_last_edge_acknowledges_still_stops(
    product: Product, gateway: Gateway, lagging: Edge
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach="rollback")
    judged(candidate_window(rollout), "fail", timezone.now())
    says(lagging, rollout.publication)
    EdgeSeen.objects.update(at=timezone.now())
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).state == RolloutState.ROLLED_BACK


def test_harm_that_is_judged_while_the_tick_looks_still_stops(
    product: Product, gateway: Gateway, lagging: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = canaried(gateway, at(5), stages=STAGES, on_breach="rollback")
    judged(candidate_window(rollout), "pass", timezone.now())
    says(lagging, rollout.publication)
    EdgeSeen.objects.update(at=timezone.now())
    moves = reconciling._move

    def judged_meanwhile(row: Rollout, now: datetime) -> None:
        moves(row, now)
        judged(candidate_window(row), "fail", now)

    with monkeypatch.context() as patched:
        patched.setattr(reconciling, "_move", judged_meanwhile)
        reconcile(product.pk, timezone.now())
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).state == RolloutState.ROLLED_BACK


def test_what_is_live_is_judged_until_the_fleet_runs_the_next(
    product: Product, gateway: Gateway, lagging: Edge
) -> None:
    before = live(product).number
    rollout = canaried(gateway, at(5), stages=STAGES)
    assert Window.objects.get(publication=before).closes_at is None
    says(lagging, rollout.publication)
    EdgeSeen.objects.update(at=timezone.now())
    reconcile(product.pk, timezone.now())
    assert Window.objects.get(publication=before).closes_at is not None
