"""Who has to approve, who has, and who may: asked by votes, by publishing and by pages."""

from collections.abc import Collection, Iterable

from accounts.guard import Actor, roles_held, roles_of
from releases.models import Proposal, Vote
from releases.services.binding import bound_digest
from releases.services.propose import record_contributors
from releases.states import Choice, Part


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
