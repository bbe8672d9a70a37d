"""A stage that asks for a person, where segments stand apart: a yes is for what is ready."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from policies.models import Product
from releases.models import Edge, Notice, Rollout
from releases.services.notices import gather
from releases.services.stage import approve_stage, let_go
from tests.releases.desk import Desk
from tests.releases.releases_cast import actor
from tests.releases.stage_cast import (
    APART,
    EXTRACTION,
    PREMIUM,
    found,
    fresh,
    judged_by_segment,
    staged,
)
from tests.releases.test_segments_apart import ALL_PASS, STAGES, stages, ticked


def asked_apart(product: Product, gateway: Edge) -> Rollout:
    """Extraction went ahead and lacks only the yes that each stage asks of an SRE."""
    asking = [{**stage, "approval": "sre"} for stage in STAGES[:-1]]
    rollout = staged(product, gateway, *asking, STAGES[-1], strata=APART)
    let_go(actor("dee"), rollout, EXTRACTION, "it is far from its floor")
    judged_by_segment(rollout, timezone.now(), **{**ALL_PASS, "assistant_premium": "no_data"})
    return fresh(rollout)


def test_a_yes_to_what_is_ready_waits_for_nothing_else(product: Product, gateway: Edge) -> None:
    User.objects.filter(username="dee").update(email="dee@example.com")
    rollout = asked_apart(product, gateway)
    gather(product, timezone.now())
    told = Notice.objects.get(key__startswith="stage:")
    assert told.text.startswith(f"Your approval is asked for {EXTRACTION}: ")
    dee = Desk("dee")
    assert f"Asked for {EXTRACTION}; what is not ready yet asks again." in dee.page("rollout")
    seen: dict[str, Any] = {"expected_version": rollout.version, "reason": "the night is quiet"}
    assert dee.asks(f"rollouts/{rollout.pk}/approve", **seen)[0] == 200
    act = AuditEvent.objects.get(action="rollout.approve_stage")
    assert (EXTRACTION in act.data["segments"], PREMIUM in act.data["segments"]) == (True, False)
    rollout = ticked(rollout)
    assert stages(rollout) == {"": 0, EXTRACTION: 1}
    assert "approval" in found(rollout).rest.lacks


def test_a_yes_to_one_segment_is_none_to_the_rest(product: Product, gateway: Edge) -> None:
    rollout = asked_apart(product, gateway)
    rollout = approve_stage(actor("dee"), rollout, "the night is quiet")
    judged_by_segment(rollout, timezone.now(), **ALL_PASS)  # the rest passes before the next tick
    assert stages(ticked(rollout)) == {"": 0, EXTRACTION: 1}


def test_a_second_yes_is_for_what_became_ready_since(product: Product, gateway: Edge) -> None:
    rollout = asked_apart(product, gateway)
    rollout = approve_stage(actor("dee"), rollout, "the night is quiet")
    judged_by_segment(rollout, timezone.now(), **ALL_PASS)
    gather(product, timezone.now())
    assert "asked for everything else: " in Notice.objects.get(key__startswith="stage:").text
    rollout = approve_stage(actor("dee"), rollout, "so is the rest")
    assert stages(ticked(rollout)) == {"": 1, EXTRACTION: 1}


def test_a_yes_goes_no_further_than_what_was_read(product: Product, gateway: Edge) -> None:
    rollout = asked_apart(product, gateway)
    dee = Desk("dee")
    assert f'name="segments" value="{EXTRACTION}"' in dee.page("rollout")
    judged_by_segment(rollout, timezone.now(), **ALL_PASS)
    read: dict[str, Any] = {"segments": [EXTRACTION], "reason": "the night is quiet"}
    read["expected_version"] = rollout.version
    status, refused = dee.asks(f"rollouts/{rollout.pk}/approve", **read)
    assert (status, refused["code"]) == (409, "segments_changed")
    assert dee.sends("approve-stage", rollout.pk, **read).status_code == 409
    assert not rollout.approvals.exists()
    both = {**read, "segments": ["", EXTRACTION]}
    assert dee.sends("approve-stage", rollout.pk, **both).status_code == 302
    assert rollout.approvals.get().segments == ["", EXTRACTION]


def test_what_became_ready_together_takes_one_yes(product: Product, gateway: Edge) -> None:
    rollout = asked_apart(product, gateway)
    judged_by_segment(rollout, timezone.now(), **ALL_PASS)
    rollout = approve_stage(actor("dee"), fresh(rollout), "the night is quiet")
    assert stages(ticked(rollout)) == {"": 1, EXTRACTION: 1}


def test_no_yes_is_taken_while_nothing_is_ready(product: Product, gateway: Edge) -> None:
    rollout = asked_apart(product, gateway)
    judged_by_segment(
        rollout,
        timezone.now(),
        **{**ALL_PASS, "assistant_premium": "no_data", "extraction": "inconclusive"},
    )
    with pytest.raises(Conflict) as refused:
        approve_stage(actor("dee"), fresh(rollout), "the night is quiet")
    assert refused.value.code == "not_ready"
