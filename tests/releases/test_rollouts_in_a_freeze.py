"""A freeze of what is live holds a rollout where it stands; the way back stays open."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from controlplane.errors import Conflict
from releases.models import Edge, Publication, Rollout
from releases.services import rollout as moves
from releases.services.issue import latest
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from tests.releases.desk import OF_PRODUCT, Desk
from tests.releases.releases_cast import actor, approved, edge, live_with, says
from tests.releases.stage_cast import activated, fresh, passes

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
HOUR = timedelta(hours=1)
SAID = "The freeze “audit” keeps it until"


def wall(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M}"


@pytest.fixture
def ends(people: dict[str, User]) -> datetime:
    """A freeze holds, since an hour ago for another one."""
    return (timezone.now() + HOUR).replace(second=0, microsecond=0)


@pytest.fixture
def rollout(ends: datetime) -> Rollout:
    """Published before the freeze; its first stage has passed in it."""
    freeze = {"name": "audit", "from": wall(ends - 2 * HOUR), "until": wall(ends), "zone": "UTC"}
    product = live_with(rollout={"freezes": [freeze]})
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    publish(actor("dee"), approved(product, stages=STAGES), now=ends - 3 * HOUR)
    row = Rollout.objects.get()
    row = activated(row, gateway, timezone.now() - timedelta(minutes=10))
    passes(row)
    return row


def test_nothing_goes_on_in_it_by_the_tick_a_page_or_a_machine(rollout: Rollout) -> None:
    reconcile(rollout.product_id, timezone.now())
    assert fresh(rollout).stage_index == 0
    dee = Desk("dee")
    told = dee.reads(f"rollouts/{rollout.pk}")
    assert told["blockers"] == [one for one in told["blockers"] if one.startswith(SAID)] != []
    page = dee.page("rollout")
    assert SAID in page
    assert "Enter the next stage now" not in page
    version = {"expected_version": told["version"]}
    status, refused = dee.asks(f"rollouts/{rollout.pk}/advance", **version)
    assert (status, refused["code"], SAID in refused["detail"]) == (409, "not_ready", True)
    assert dee.sends("advance", rollout.pk, **version).status_code == 409
    assert fresh(rollout).stage_index == 0
    assert Publication.objects.count() == 2


def test_it_says_when_it_ends_and_goes_on_from_there(rollout: Rollout, ends: datetime) -> None:
    told = Desk("eve").reads(f"rollouts/{rollout.pk}")
    assert datetime.fromisoformat(told["earliest"]) == ends
    passes(rollout, ends)
    reconcile(rollout.product_id, ends)
    assert fresh(rollout).stage_index == 1


def test_it_is_paused_and_rolled_back_and_never_resumed(rollout: Rollout) -> None:
    dee = Desk("dee")
    asked: dict[str, Any] = {"reason": "odd", "expected_version": fresh(rollout).version}
    status, paused = dee.asks(f"rollouts/{rollout.pk}/pause", **asked)
    assert (status, paused["state"]) == (200, "paused")
    page = dee.page("rollout")
    assert SAID in page
    assert "The stage begins its hold anew" not in page
    asked["expected_version"] = paused["version"]
    status, refused = dee.asks(f"rollouts/{rollout.pk}/resume", **asked)
    assert (status, refused["code"]) == (409, "frozen")
    assert dee.sends("resume", rollout.pk, **asked).status_code == 409
    with pytest.raises(Conflict):
        moves.resume(actor("dee"), fresh(rollout), "go")
    assert dee.asks(f"{OF_PRODUCT}/rollbacks", reason="odd")[0] == 201
    assert fresh(rollout).state == "rolled_back"


def test_what_has_everybody_completes_in_it(rollout: Rollout, ends: datetime) -> None:
    """To complete takes no number and moves nobody."""
    passes(rollout, ends)
    reconcile(rollout.product_id, ends)
    at = ends + timedelta(days=-1)
    whole = activated(rollout, Edge.objects.get(), at)
    Rollout.objects.filter(pk=rollout.pk).update(stage_opened_at=at)
    passes(whole)
    reconcile(rollout.product_id, timezone.now())
    assert fresh(rollout).state == "completed"
