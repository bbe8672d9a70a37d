"""Every pair of state and move that the tables don't have is refused."""

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from controlplane.errors import Conflict
from policies.models import Product
from releases.lifecycle import PROPOSAL_MOVES, ROLLOUT_MOVES, Change, Move, Row, land
from releases.models import Proposal, Rollout
from releases.states import ProposalState, RolloutState
from tests.releases.releases_cast import drafted, published


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


def _refused(row: Row, move: Move) -> None:
    before = AuditEvent.objects.count()

    def never(fresh: Row) -> Change:
        raise AssertionError("a move that is not in the table reached its decision")

    with pytest.raises(Conflict) as refused:
        land(row, move, SYSTEM_ACTOR, never)
    assert refused.value.code == "move_not_allowed"
    assert AuditEvent.objects.count() == before
