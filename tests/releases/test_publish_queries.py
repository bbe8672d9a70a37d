"""How often a decision that every edge waits for asks the database, however much was decided."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from policies.models import Product
from releases.models import Edge, PoolRelease, Proposal, Rollout
from releases.services.binding import bound_digest
from releases.services.publish import publish
from releases.services.review import vote
from releases.services.rollback import roll_back
from releases.services.rollout import advance
from releases.states import Choice
from tests.releases.releases_cast import actor, approved, in_review
from tests.releases.stage_cast import fresh, passes, staged

#: Of each move, its own transaction included; one more needs a reason.
PUBLISH, ROLL_BACK, ADVANCE = 34, 19, 28


@pytest.fixture
def decided(product: Product, gateway: Edge) -> Product:
    """Three publications that were taken back and let go, and three proposals turned down."""
    for number in range(3):
        gone = approved(product, stages=stages(0.1 + number / 100))
        publish(actor("dee"), gone)
        publication, _ = roll_back(actor("dee"), product, "it was worse")
        let_go(gone, publication.number)
        turned_down = in_review(product, stages=stages(0.2 + number / 100))
        seen = bound_digest(turned_down)
        vote(actor("ben"), turned_down, Choice.REJECT, "no better", seen)
    return product


def stages(canary: float) -> list[dict[str, Any]]:
    return [{"canary": canary, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]


def let_go(proposal: Proposal, publication: int) -> PoolRelease:
    return PoolRelease.objects.create(
        product=proposal.product,
        digest=proposal.revision_digest,
        pool="shared",
        publication=publication,
        released_at=timezone.now(),
        actor="dee",
        reason="nothing runs on it",
    )


def test_publishing(decided: Product, django_assert_max_num_queries: Any) -> None:
    asked = approved(decided)
    proposal = Proposal.objects.select_related("product", "generation").get(pk=asked.pk)
    dee = actor("dee")
    with django_assert_max_num_queries(PUBLISH):
        publish(dee, proposal)
    assert Rollout.objects.latest("id").proposal == proposal


def test_rolling_back(decided: Product, django_assert_max_num_queries: Any) -> None:
    publish(actor("dee"), approved(decided))
    dee = actor("dee")
    with django_assert_max_num_queries(ROLL_BACK):
        assert roll_back(dee, decided, "it is worse")[1]


def test_advancing(decided: Product, gateway: Edge, django_assert_max_num_queries: Any) -> None:
    rollout = staged(decided, gateway, *stages(0.1))
    at = timezone.now() + timedelta(seconds=30)
    passes(rollout, at)
    rollout, dee = fresh(rollout), actor("dee")
    with django_assert_max_num_queries(ADVANCE):
        assert advance(dee, rollout, now=at).stage_index == 1
