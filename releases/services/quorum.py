"""Who has to approve, who has, and who may: asked by votes, by publishing and by pages."""

from collections.abc import Collection, Iterable

from accounts.guard import Actor, roles_held, roles_of
from releases.models import Proposal, Vote
from releases.services.binding import bound_digest, reopen_where
from releases.services.propose import record_contributors
from releases.states import Choice, Part, ProposalState


def why_not_vote(actor: Actor, proposal: Proposal) -> str:
    """The sentence that tells an actor why this vote is not theirs; empty when it may be."""
    if actor.user is None:
        return "A machine can propose; only a person can approve."
    record_contributors(proposal)
    hand = proposal.contributors.filter(user=actor.user).first()
    if hand:
        part = Part(hand.part).label
        return f"You are {part} of this proposal. Whoever contributed can’t decide on it."
    return ""


def slot_for(actor: Actor, proposal: Proposal) -> str:
    """The role this person would fill: one still missing, else any that is asked for."""
    held = sorted(roles_of(actor, proposal.product.slug) & set(proposal.required))
    missing = still_missing(proposal, approvals(proposal))
    open_slots = [role for role in held if role in missing]
    return (open_slots or held or [""])[0]


def still_missing(proposal: Proposal, given: Iterable[Vote]) -> dict[str, int]:
    """How many approvals of each role the current round lacks beside those given."""
    missing: dict[str, int] = dict(proposal.required)
    for vote in given:
        missing[vote.role] = missing.get(vote.role, 0) - 1
    return {role: count for role, count in missing.items() if count > 0}


def approvals(proposal: Proposal) -> list[Vote]:
    """The approvals of this round that are bound to what is there now.

    Whoever approved and had a hand in it afterwards, be it taken back again, approves no more.
    """
    rows = proposal.votes.filter(
        round=proposal.round,
        decision=Choice.APPROVE,
        void=False,
        bound_digest=bound_digest(proposal),
    )
    own = proposal.contributors.values("user_id")
    return list(rows.exclude(user_id__in=own).select_related("user"))


def lapsed(given: Collection[Vote], product_slug: str) -> list[str]:
    """Approvers who no longer hold the role they approved in."""
    held = roles_held([vote.user for vote in given], product_slug)
    return [vote.user.get_username() for vote in given if vote.role not in held[vote.user_id]]


def why_lapsed(proposal: Proposal, given: Collection[Vote]) -> str:
    """Why those approvals are no quorum any more, naming whose is missing; empty while they are."""
    gone = lapsed(given, proposal.product.slug)
    if gone:
        return f"{_names(gone)} no longer holds the role of the approval"
    missing = still_missing(proposal, given)
    if not missing:
        return ""
    own = proposal.votes.filter(round=proposal.round, decision=Choice.APPROVE, void=False)
    own = own.exclude(pk__in=[vote.pk for vote in given])
    names = [vote.user.get_username() for vote in own.select_related("user")]
    if names:
        return f"{_names(names)} approved it and had a hand in it afterwards"
    return f"Approvals are missing: {', '.join(sorted(missing))}"


def reopen_if_lapsed(proposal: Proposal) -> bool:
    """Send an approved proposal back to draft when its quorum is none any more, for a new round."""
    return proposal.state == ProposalState.APPROVED and reopen_where(proposal, _lapse_of)


def _lapse_of(proposal: Proposal) -> str:
    record_contributors(proposal)
    return why_lapsed(proposal, approvals(proposal))


def _names(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))
