"""What keeps an approved proposal from going out is asked again, told, and waited for."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from ingest.models import Trial
from policies.models import Product
from releases.models import Proposal, Publication
from releases.services import hindrances
from releases.services.reconcile import reconcile
from tests.releases.desk import Desk
from tests.releases.releases_cast import approve, approved, in_review, live_with
from tests.releases.test_review_card import strict_product, trial

HOUR = timedelta(hours=1)


def refused_to_publish(proposal: Proposal) -> str:
    proposal.refresh_from_db()
    version: dict[str, Any] = {"expected_version": proposal.version}
    status, told = Desk("dee").asks(f"proposals/{proposal.pk}/publish", **version)
    assert status == 409, told
    return str(told["code"])


def test_required_evidence_that_lapses_before_publication_holds_it(people: dict[str, User]) -> None:
    proposal = in_review(strict_product(["warm_trial"]))
    trial(proposal.product, proposal, "warm")
    for name in ("ben", "dee"):
        approve(name, proposal)
    Trial.objects.all().delete()
    told = Desk("eve").reads(f"proposals/{proposal.pk}")
    assert [one["code"] for one in told["hindrances"]] == ["evidence_missing"]
    assert "Missing is a warm trial" in Desk("eve").page("proposal", proposal.pk)
    assert refused_to_publish(proposal) == "evidence_missing"
    trial(proposal.product, proposal, "warm")
    version = {"expected_version": told["version"]}
    assert Desk("dee").asks(f"proposals/{proposal.pk}/publish", **version)[0] == 200


def test_a_document_that_breaks_its_rules_by_now_is_held(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of its models may have come to contradict it since it was submitted."""
    proposal = approved(product)
    found = [{"code": "floor", "pointer": "/gates", "text": "No route reaches the floor."}]
    monkeypatch.setattr(hindrances, "blocking_findings", lambda *_: found)
    told = Desk("eve").reads(f"proposals/{proposal.pk}")
    assert [one["code"] for one in told["hindrances"]] == ["findings"]
    assert "No route reaches the floor." in Desk("eve").page("proposal", proposal.pk)
    assert refused_to_publish(proposal) == "findings"


def test_what_goes_out_by_itself_does_so_once_nothing_keeps_it(people: dict[str, User]) -> None:
    ends = (timezone.now() + HOUR).replace(second=0, microsecond=0)
    freeze = {
        "name": "audit",
        "from": f"{ends - 2 * HOUR:%Y-%m-%dT%H:%M}",
        "until": f"{ends:%Y-%m-%dT%H:%M}",
        "zone": "UTC",
    }
    product = live_with(rollout={"publish": "automatic", "freezes": [freeze]})
    proposal = approved(product)
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert proposal.state == "approved"
    page = Desk("eve").page("proposal", proposal.pk)
    assert "It goes out by itself as soon as none of this holds" in page
    assert "The freeze “audit” keeps it until" in page
    assert "by itself, as soon as nothing keeps it" in page
    reconcile(product.pk, ends)
    newest = Publication.objects.latest("number")
    assert (newest.number, newest.actor) == (2, "orchid")
    assert newest.candidate_digest == proposal.revision_digest


def test_what_a_person_publishes_waits_for_one(product: Product) -> None:
    proposal = approved(product)
    reconcile(product.pk, timezone.now())
    assert Publication.objects.count() == 1
    assert "by hand, after the last approval" in Desk("eve").page("proposal", proposal.pk)
