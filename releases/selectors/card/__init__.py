"""The review card: every question that a proposal has to answer, answered from facts and linked."""

from datetime import datetime

from controlplane.errors import Conflict
from releases.models import Proposal
from releases.selectors.card import capacity, contract, outcome, trials
from releases.selectors.card.answer import Answer, Card, Proof, Standing
from releases.selectors.card.case import CardCase
from releases.selectors.card.proofs import proofs

__all__ = ["QUESTIONS", "Answer", "Card", "Proof", "Standing", "refuse_unproven", "review_card"]

#: In the order in which a reviewer asks.
QUESTIONS = (
    contract.success,
    contract.clocks,
    contract.segments,
    capacity.unit,
    capacity.output,
    capacity.live_state,
    capacity.ledger,
    capacity.coexist,
    capacity.batching,
    capacity.quanta,
    outcome.truncation,
    outcome.fallbacks,
    outcome.cost,
    trials.loads,
    trials.burst,
    outcome.cancellation,
    outcome.stops,
)


def review_card(proposal: Proposal, now: datetime) -> Card:
    """The card as the facts are at `now`."""
    case = CardCase(proposal, now)
    return Card([ask(case) for ask in QUESTIONS], proofs(case))


def refuse_unproven(proposal: Proposal, now: datetime) -> None:
    """Raise 409 `evidence_missing`, by name, where the policy requires what is not there."""
    case = CardCase(proposal, now)
    if not case.ruling.approvals.evidence_required:
        return
    blockers = [proof for proof in proofs(case) if proof.blocks]
    if blockers:
        names = ", ".join(proof.label for proof in blockers)
        raise Conflict(
            "evidence_missing",
            f"Missing is {names}. The policy in force requires it: without it this is neither "
            "approved nor published.",
            missing=[{"name": proof.name, "said": proof.said} for proof in blockers],
        )
