"""What a rollback restores: proven content, after whatever has happened."""

import contextlib
import random

import pytest
from django.db import transaction

from controlplane.errors import Conflict, NotFound
from policies.models import Product
from releases.models import Publication, Rollout
from releases.selectors.proven import target
from releases.services.issue import latest
from releases.services.rollback import roll_back
from releases.states import RolloutState
from tests.releases.releases_cast import actor, published
from tests.releases.rollback_histories import History, contents


@pytest.fixture
def history(product: Product) -> History:
    first = Publication.objects.get(product=product).incumbent_digest
    return History(product, contents(product, 5), first)


@pytest.mark.parametrize("seed", range(12))
def test_after_any_history_proven_content_is_restored_and_only_once(
    history: History, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(14):
        history.step(chance)
    for number in Publication.objects.values_list("number", flat=True):
        with contextlib.suppress(Conflict):
            digest = target(history.product, history.current, number)
            assert digest is None or history.word[digest] == "good", (history.done, number)
    history.rollback(chance)


def test_after_an_emergency_what_was_proven_before_it_comes_back(history: History) -> None:
    chance = random.Random(1)
    history.publish(chance)
    for _ in range(3):
        history.advance(chance)
    came_through = history.current.candidate_digest
    history.emergency(chance)
    history.emergency(chance)
    made, _ = roll_back(actor("dee"), history.product, "the emergency made it worse")
    assert made.incumbent_digest == came_through


def test_a_stopped_candidate_is_not_restored_by_its_number_either(product: Product) -> None:
    stages = [{"canary": 1.0, "hold": "20s"}]
    rollout = published(product, stages=stages)
    first, stopped = Publication.objects.order_by("number")
    roll_back(actor("dee"), product, "users complain")
    made, new = roll_back(actor("dee"), product, "try it again", to=stopped.number)
    assert (made.incumbent_digest, new) == (first.incumbent_digest, False)
    rollout.refresh_from_db()
    assert rollout.state == RolloutState.ROLLED_BACK
    with pytest.raises(NotFound):
        roll_back(actor("dee"), product, "no such thing", to=99)


def test_content_that_was_stopped_at_its_last_try_is_refused_by_number(history: History) -> None:
    """Its publication stood for it then; what is known since is that it was stopped."""
    chance = random.Random(2)
    first = history.current
    history.publish(chance)
    for _ in range(3):
        history.advance(chance)
    history.publish(chance)
    for _ in range(3):
        history.advance(chance)
    tried = Rollout.objects.latest("id")
    Rollout.objects.create(
        product=history.product,
        proposal=tried.proposal,
        first=tried.first,
        publication=tried.first,
        candidate_digest=first.incumbent_digest,
        state=RolloutState.ROLLED_BACK,
        created_at=tried.created_at,
    )
    with pytest.raises(Conflict) as refused:
        roll_back(actor("dee"), history.product, "back to the beginning", to=first.number)
    assert refused.value.code == "not_proven"


def test_a_click_on_an_old_page_takes_nothing_else_away(product: Product) -> None:
    seen = latest(product)
    assert seen is not None
    rollout = published(
        product, stages=[{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
    )
    with pytest.raises(Conflict) as refused, transaction.atomic():
        roll_back(actor("dee"), product, "late", leaves=seen.target_digest)
    assert refused.value.code == "live_changed"
    made, _ = roll_back(actor("dee"), product, "in time", leaves=rollout.candidate_digest)
    assert made.kind == "rollback"
