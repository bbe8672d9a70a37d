"""Who has to approve, who has, and who may: asked by votes, by publishing and by pages."""

from collections.abc import Collection, Iterable

from accounts.guard import Actor, roles_held, roles_of
from accounts.models import User
from releases.models import Proposal, Vote
from releases.services.binding import bound_digest, reopen_where
from releases.services.propose import record_contributors
from releases.services.seats import seated
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
    if actor.user is None or not held:
        return ""
    could = _could_fill(approvals(proposal), [actor.user], proposal)
    return seated(proposal.required, could).get(actor.user.pk, held[0])


def make_room(user: User, proposal: Proposal) -> dict[str, str]:
    """Move approvals among the roles that their people hold, where this person finds none else.

    Whoever of two roles comes first would keep the only one of whoever comes next. Returns the
    new roles by name.
    """
    given, moved = approvals(proposal), {}
    seats = seated(proposal.required, _could_fill(given, [user], proposal))
    for vote in given:
        role = seats.get(vote.user_id, vote.role)
        if role != vote.role:
            proposal.votes.filter(pk=vote.pk).update(role=role)
            moved[vote.user.get_username()] = role
    return moved


def who_could_fill(role: str, proposal: Proposal, people: Collection[User]) -> list[User]:
    """Those whose approval would fill one more slot of a missing role, if by making room."""
    given = approvals(proposal)
    missing = still_missing(proposal, given)
    filled = {one: count - missing.get(one, 0) for one, count in proposal.required.items()}
    asked: dict[str, int] = filled | {role: filled[role] + 1}
    could = _could_fill(given, people, proposal)
    late = {user.pk for user in people}

    def fills(user: User) -> bool:
        here = {pk: roles for pk, roles in could.items() if pk == user.pk or pk not in late}
        return len(seated(asked, here)) == sum(asked.values())

    return [user for user in people if fills(user)]


def _could_fill(
    given: Collection[Vote], others: Collection[User], proposal: Proposal
) -> dict[int, list[str]]:
    """By person, the asked roles that each holds; approvers first, each with the present one first.

    An approver who holds none of them any more keeps the present one, until the lapse is told.
    """
    held = roles_held([*(vote.user for vote in given), *others], proposal.product.slug)
    could = {pk: sorted(roles & set(proposal.required)) for pk, roles in held.items()}
    for vote in given:
        could[vote.user_id] = _kept_first(vote.role, could[vote.user_id])
    return could


def _kept_first(role: str, held: list[str]) -> list[str]:
    return sorted(held, key=lambda one: one != role) or [role]


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
