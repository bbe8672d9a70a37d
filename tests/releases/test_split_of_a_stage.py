"""The check of a split at a stage whose segments stand apart: in units, by stratum, each part of
its own fraction."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gates.services import evaluate
from policies.models import Product
from releases.models import Edge, Rollout
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from tests.releases.desk import Desk
from tests.releases.releases_cast import edge, says
from tests.releases.stage_cast import (
    APART,
    PREMIUM,
    activated,
    candidate_window,
    fresh,
    judged_by_segment,
    served,
    staged,
)

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s"},
    {"canary": 0.5, "hold": "20s"},
    {"canary": 1.0, "hold": "20s"},
]
#: Sessions of each cohort, candidate first, where about that many are due of 200.
PREMIUM_DUE, STANDARD_DUE = (100, 100), (20, 180)


@pytest.fixture
def ahead(product: Product) -> Rollout:
    """Premium is at 50 % and everything else at 10 %, split by sessions."""
    gateway: Edge = edge(product, "edge-1")
    says(gateway, latest(product))
    asked = {"strata": APART, "unit": "session", "apart": [PREMIUM], "on_breach": "rollback"}
    rollout = staged(product, gateway, *STAGES, **asked)
    told = dict.fromkeys(("whole", "assistant_standard", "extraction"), "inconclusive")
    judged_by_segment(rollout, timezone.now(), **told, assistant_premium="pass")
    reconcile(product.pk, timezone.now())
    return activated(rollout, gateway, timezone.now() - timedelta(minutes=10))


def split(rollout: Rollout, tenant_class: str, sessions: tuple[int, int], ms: float) -> None:
    """So many sessions of either cohort; whatever their number, 200 requests are the candidate's
    and 200 the incumbent's."""
    for cohort, count in zip(("candidate", "incumbent"), sessions, strict=True):
        late = ms if cohort == "candidate" else 300.0
        served(
            rollout.publication,
            cohort,
            200,
            tenant_class=tenant_class,
            sessions=count,
            completion_ms=late,
        )


def checked(rollout: Rollout) -> dict[str, Any]:
    evaluation = evaluate(candidate_window(rollout).pk, timezone.now())
    (found,) = (one for one in evaluation.validity["checks"] if one["name"] == "split")
    return dict(found)


# Case 5
def test_each_part_is_held_to_its_own_fraction_in_sessions(ahead: Rollout) -> None:
    split(ahead, "premium", PREMIUM_DUE, 300.0)
    split(ahead, "standard", STANDARD_DUE, 300.0)
    told = checked(ahead)
    assert told["state"] == "ok", told
    assert "sessions: " in told["message"]
    assert "100 of 200 in the canary where about 100 are due at 50 %" in told["message"]
    assert "20 of 200 in the canary where about 20 are due at 10 %" in told["message"]


# Case 5
@pytest.mark.parametrize(
    ("premium", "standard", "said"),
    [
        ((160, 40), STANDARD_DUE, "160 of 200 in the canary where about 100 are due at 50 %"),
        (PREMIUM_DUE, (100, 100), "100 of 200 in the canary where about 20 are due at 10 %"),
        (STANDARD_DUE, PREMIUM_DUE, "20 of 200 in the canary where about 100 are due at 50 %"),
    ],
)
def test_a_part_that_is_off_holds_everything_even_harm(
    ahead: Rollout, premium: tuple[int, int], standard: tuple[int, int], said: str
) -> None:
    split(ahead, "premium", premium, 9_000.0)
    split(ahead, "standard", standard, 9_000.0)
    told = checked(ahead)
    assert told["state"] == "broken"
    assert said in told["message"]
    reconcile(ahead.product_id, timezone.now())
    assert fresh(ahead).state == "running"
    shown = Desk("dee").reads(f"rollouts/{ahead.pk}")
    assert said in " ".join(shown["blockers"])
    assert said in Desk("eve").page("rollout")
    seen = {"expected_version": shown["version"]}
    status, refused = Desk("dee").asks(f"rollouts/{ahead.pk}/advance", **seen)
    assert (status, said in refused["detail"]) == (409, True)
