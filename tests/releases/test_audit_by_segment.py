"""Whoever asks the audit trail for a segment finds every move of a rollout that concerned it."""

from collections import Counter
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from policies.models import Product
from releases.models import Edge, Rollout
from releases.services import rollout as moves
from releases.services.cap import cap_tenant
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.services.stage import approve_stage, hold_back, let_go
from tests.releases.releases_cast import actor
from tests.releases.stage_cast import (
    APART,
    EXTRACTION,
    PREMIUM,
    STANDARD,
    fresh,
    judged_by_segment,
    passes,
    staged,
)

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s"},
    {"canary": 0.5, "hold": "20s"},
    {"canary": 1.0, "hold": "20s"},
]
PASS = dict.fromkeys(("whole", "assistant_standard", "assistant_premium", "extraction"), "pass")
KEYS = {
    PREMIUM: "task=assistant|tenant_class=premium",
    STANDARD: "task=assistant|tenant_class=standard",
    EXTRACTION: "task=structured_extraction",
}


@pytest.fixture
def rollout(product: Product, gateway: Edge) -> Rollout:
    return staged(product, gateway, *STAGES, strata=APART, on_breach="rollback")


def found(segment: str) -> list[str]:
    """What the page finds, oldest first, and the API and the export likewise."""
    eve = Client()
    eve.force_login(User.objects.get(username="eve"))
    asked = {"segment": segment, "action": "rollout."}
    page = eve.get("/audit/", asked)
    rows = [event.action for event in page.context["page"].rows]
    assert [row["action"] for row in eve.get("/api/v1/audit", asked).json()["results"]] == rows
    assert all(action in page.content.decode() for action in rows)
    return [row.removeprefix("rollout.") for row in reversed(rows)]


def found_either_way(segment: str) -> list[str]:
    """By its name. What it is of finds these too, and all that was done with a change of it."""
    by_name = found(segment)
    assert Counter(by_name) <= Counter(found(KEYS[segment]))
    return by_name


def test_an_advance_is_found_by_the_segments_that_it_moved(rollout: Rollout) -> None:
    hold_back(actor("dee"), rollout, PREMIUM, "the contract renews on Friday")
    judged_by_segment(rollout, timezone.now(), **PASS)
    reconcile(rollout.product_id, timezone.now())
    assert found_either_way(PREMIUM) == ["hold_back"]
    assert found_either_way(STANDARD) == found_either_way(EXTRACTION) == ["advance"]


def test_a_segment_that_went_ahead_is_found_alone(rollout: Rollout) -> None:
    let_go(actor("dee"), rollout, EXTRACTION, "it is far from its floor")
    told = dict.fromkeys(PASS, "inconclusive") | {"extraction": "pass"}
    judged_by_segment(rollout, timezone.now(), **told)
    reconcile(rollout.product_id, timezone.now())
    assert found_either_way(EXTRACTION) == ["let_go", "advance"]
    assert found_either_way(PREMIUM) == []


@pytest.mark.parametrize("door", ["breach", "person", "emergency"])
def test_what_takes_everybody_back_is_found_by_each_segment(rollout: Rollout, door: str) -> None:
    if door == "breach":
        judged_by_segment(rollout, timezone.now(), **{**PASS, "extraction": "fail"})
        reconcile(rollout.product_id, timezone.now())
    elif door == "person":
        roll_back(actor("dee"), rollout.product, "users complain")
    else:
        cap_tenant(actor("dee"), rollout.product, "acme", "10s", {"max_teu": 400}, "a loop")
    assert fresh(rollout).state == "rolled_back"
    for segment in KEYS:
        assert found_either_way(segment) == ["rollback"]
    assert found("nobody") == []


def test_a_pause_and_a_resume_are_found_by_each_segment(rollout: Rollout) -> None:
    moves.pause(actor("dee"), rollout, "a look first")
    moves.resume(actor("dee"), fresh(rollout), "all well")
    assert found_either_way(PREMIUM) == ["pause", "resume"]


def test_an_approval_of_a_stage_is_found_by_each_segment(product: Product, gateway: Edge) -> None:
    asks, last = {**STAGES[0], "approval": "sre"}, STAGES[-1]
    row = staged(product, gateway, asks, last)
    passes(row)
    approve_stage(actor("dee"), row, "the night is quiet")
    assert found_either_way(PREMIUM) == ["approve_stage"]
