"""An emergency that nobody looked at in time holds a rollout; the way back stays open."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from policies.models import Product
from releases.models import Edge, Publication, Rollout, SecondLook
from releases.services.cap import cap_tenant
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from releases.services.second_look import confirm
from releases.states import SecondLookState
from tests.releases.desk import OF_PRODUCT, Desk
from tests.releases.releases_cast import actor, edge, live_with, published, says
from tests.releases.stage_cast import activated, fresh, passes

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
SAID = "Publication 2 went out in an emergency and nobody has looked at it since."


def rolling(product: Product) -> Rollout:
    """Over a cap that was made alone a day ago; its first stage has passed."""
    cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    rollout = published(product, stages=STAGES)
    rollout = activated(rollout, gateway, timezone.now() - timedelta(minutes=10))
    passes(rollout)
    return rollout


def overdue(rollout: Rollout) -> SecondLook:
    """As the tick finds it that was due a minute ago."""
    SecondLook.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    reconcile(rollout.product_id, timezone.now())
    look = SecondLook.objects.get()
    assert look.state == SecondLookState.OVERDUE
    return look


@pytest.fixture
def rollout(product: Product) -> Rollout:
    return rolling(product)


def test_no_stage_is_entered_until_somebody_has_looked(rollout: Rollout) -> None:
    look = overdue(rollout)
    dee = Desk("dee")
    told = dee.reads(f"rollouts/{rollout.pk}")
    assert [one.startswith(SAID) for one in told["blockers"]] == [True]
    page = dee.page("rollout")
    assert SAID in page
    assert "Look at it" in page
    assert "Enter the next stage now" not in page
    version = {"expected_version": told["version"]}
    status, refused = dee.asks(f"rollouts/{rollout.pk}/advance", **version)
    assert (status, refused["code"], SAID in refused["detail"]) == (409, "not_ready", True)
    assert dee.sends("advance", rollout.pk, **version).status_code == 409
    assert fresh(rollout).stage_index == 0
    confirm(actor("cho"), look, "late, and right")
    reconcile(rollout.product_id, timezone.now())
    assert fresh(rollout).stage_index == 1


def test_it_is_paused_and_rolled_back_and_not_resumed(rollout: Rollout) -> None:
    overdue(rollout)
    dee = Desk("dee")
    asked: dict[str, Any] = {"reason": "odd", "expected_version": fresh(rollout).version}
    status, paused = dee.asks(f"rollouts/{rollout.pk}/pause", **asked)
    assert (status, paused["state"]) == (200, "paused")
    page = dee.page("rollout")
    assert SAID in page
    assert "The stage begins its hold anew" not in page
    asked["expected_version"] = paused["version"]
    status, refused = dee.asks(f"rollouts/{rollout.pk}/resume", **asked)
    assert (status, refused["code"]) == (409, "second_look_overdue")
    assert dee.sends("resume", rollout.pk, **asked).status_code == 409
    assert dee.asks(f"{OF_PRODUCT}/rollbacks", reason="odd")[0] == 201
    assert fresh(rollout).state == "rolled_back"


def test_another_emergency_goes_out(rollout: Rollout) -> None:
    overdue(rollout)
    cap_tenant(actor("dee"), rollout.product, "acme", "10s", {"max_teu": 300}, "still too much")
    assert Publication.objects.latest("number").kind == "emergency"
    assert fresh(rollout).state == "rolled_back"


def test_what_has_everybody_completes(rollout: Rollout) -> None:
    """To complete takes no number and moves nobody."""
    reconcile(rollout.product_id, timezone.now())
    whole = activated(rollout, Edge.objects.get(), timezone.now() - timedelta(minutes=5))
    overdue(rollout)
    passes(whole)
    reconcile(rollout.product_id, timezone.now())
    assert fresh(rollout).state == "completed"


def test_what_was_approved_over_it_is_not_undone_by_itself_and_the_page_says_so(
    people: dict[str, User],
) -> None:
    rollout = rolling(live_with(approvals={"second_look_overdue": "rollback"}))
    numbers = Publication.objects.count()
    overdue(rollout)
    assert Publication.objects.count() == numbers
    assert fresh(rollout).state == "running"
    page = Desk("cho").page("second-looks")
    assert "Something else was published since, so it is not taken back by itself" in page
