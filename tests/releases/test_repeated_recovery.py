"""Recovery was repeated where it was rehearsed of late, to what a rollback would serve from."""

from datetime import timedelta

import pytest
from django.utils import timezone

from policies.models import Product
from policies.services import draft_generation
from releases.models import Activation, Drill, DrillAnswer, Edge, Proposal, Publication, Rollout
from releases.selectors.card import review_card
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.rollback import roll_back
from tests.releases.releases_cast import actor, approved, document, in_review, published, says


@pytest.fixture
def rollout(product: Product, gateway: Edge) -> Rollout:
    """Something to go back to."""
    return published(product)


def is_repeated(product: Product, days: float = 0) -> bool:
    """As the card of the next proposal tells it, in so many days."""
    proposal = in_review(product, acknowledged_share=0.5 + Proposal.objects.count() / 100)
    card = review_card(proposal, timezone.now() + timedelta(days=days))
    [found] = [one for one in card.proofs if one.name == "repeated_recovery"]
    return found.there


def rehearsed(product: Product, state: str = "ready") -> Drill:
    drill, made = start_drill(actor("dee"), product)
    assert made
    return answered(drill, state)


def answered(drill: Drill, state: str = "ready") -> Drill:
    for one in Edge.objects.all():
        DrillAnswer.objects.create(drill=drill, edge=one, state=state, at=drill.started_at)
    return drill


def test_two_rehearsals_of_late_are_enough_and_one_is_not(
    product: Product, rollout: Rollout
) -> None:
    rehearsed(product)
    assert not is_repeated(product)
    rehearsed(product)
    assert is_repeated(product)


def test_two_rehearsals_of_long_ago_prove_nothing_of_today(
    product: Product, rollout: Rollout
) -> None:
    for _ in range(2):
        rehearsed(product)
    assert is_repeated(product, days=29)
    assert not is_repeated(product, days=31)


def test_the_last_rehearsal_decides(product: Product, rollout: Rollout) -> None:
    for state in ("ready", "ready", "refused"):
        rehearsed(product, state)
    assert not is_repeated(product)


def test_breaches_alone_are_no_rehearsal(product: Product, gateway: Edge, rollout: Rollout) -> None:
    """Two real ways back show nothing that was tried on purpose; with a rehearsal they count."""
    roll_back(actor("dee"), product, "it broke")
    says(gateway, latest(product))
    published(product, strata=["route"])
    roll_back(actor("dee"), product, "and again")
    says(gateway, latest(product))
    assert Publication.objects.filter(kind="rollback").count() == 2
    assert not is_repeated(product)
    published(product, unit="request")
    rehearsed(product)
    assert is_repeated(product)
    Activation.objects.filter(publication__kind="rollback").update(state="refused")
    assert not is_repeated(product)


def test_the_way_to_another_pool_proves_nothing_of_this_one(
    product: Product, rollout: Rollout
) -> None:
    elsewhere = other_pool(product)
    for _ in range(2):
        drill = start_drill(actor("dee"), product)[0]
        drill.pk, drill.digest = None, elsewhere
        drill.save()
        answered(drill)
    assert not is_repeated(product)


def other_pool(product: Product) -> str:
    """The digest of content that runs on a pool of its own."""
    given = document(2)
    given["fleet"]["pool"] = "elsewhere"
    return str(draft_generation(actor("ana"), product, given, "Elsewhere").digest)


def test_before_anything_could_be_rehearsed_nothing_is_missing(product: Product) -> None:
    assert is_repeated(product)
    assert approved(product).state == "approved"
