"""Every pair of state and move that the tables don't have is refused."""

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from controlplane.errors import Conflict
from policies.models import Product
from releases.lifecycle import (
    PROPOSAL_MOVES,
    ROLLOUT_MOVES,
    SECOND_LOOK_MOVES,
    Change,
    Move,
    Row,
    land,
)
from releases.models import Proposal, Publication, Rollout, SecondLook
from releases.services.second_look import open_second_look
from releases.states import ProposalState, RolloutState, SecondLookKind, SecondLookState
from tests.releases.releases_cast import actor, drafted, later, published


@pytest.mark.parametrize("state", ProposalState)
def test_a_proposal_refuses_every_move_that_its_table_lacks(
    product: Product, state: ProposalState
) -> None:
    proposal = drafted(product)
    Proposal.objects.filter(pk=proposal.pk).update(state=state)
    for move in (move for move in Move if (state, move) not in PROPOSAL_MOVES):
        _refused(proposal, move)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.version) == (state, 1)


@pytest.mark.parametrize("state", RolloutState)
def test_a_rollout_refuses_every_move_that_its_table_lacks(
    product: Product, state: RolloutState
) -> None:
    rollout = published(product)
    Rollout.objects.filter(pk=rollout.pk).update(state=state)
    for move in (move for move in Move if (state, move) not in ROLLOUT_MOVES):
        _refused(rollout, move)
    rollout.refresh_from_db()
    assert (rollout.state, rollout.version) == (state, 1)


@pytest.mark.parametrize("state", SecondLookState)
def test_a_second_look_refuses_every_move_that_its_table_lacks(
    product: Product, state: SecondLookState
) -> None:
    look = open_second_look(
        actor("dee"),
        product,
        SecondLookKind.EMERGENCY_CAP,
        Publication.objects.get(),
        "one tenant takes it all",
        later(0),
        asked_of=["sre"],
    )
    looked = {"looked_by": "cho", "looked_at": later(1), "words": "seen"}
    SecondLook.objects.filter(pk=look.pk).update(state=state, **looked)
    for move in (move for move in Move if (state, move) not in SECOND_LOOK_MOVES):
        _refused(look, move)
    look.refresh_from_db()
    assert (look.state, look.version) == (state, 1)


def _refused(row: Row, move: Move) -> None:
    before = AuditEvent.objects.count()

    def never(fresh: Row) -> Change:
        raise AssertionError("a move that is not in the table reached its decision")

    with pytest.raises(Conflict) as refused:
        land(row, move, SYSTEM_ACTOR, never)
    assert refused.value.code == "move_not_allowed"
    assert AuditEvent.objects.count() == before
