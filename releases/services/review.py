"""Votes: one slot a person, nobody who contributed, bound to what was on the page."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, confirmed, require
from accounts.models import User
from controlplane.errors import BadInput, Conflict, Forbidden
from releases.lifecycle import Change, Move, land
from releases.models import Proposal, Vote
from releases.selectors.card import refuse_unproven
from releases.selectors.trade import sentence
from releases.services.binding import bound_digest, refuse_stale
from releases.services.expiry import refuse_expired
from releases.services.quorum import approvals, make_room, slot_for, still_missing, why_not_vote
from releases.services.waiting import goes_by_itself, publish_if_due
from releases.states import Choice


def vote(
    actor: Actor,
    proposal: Proposal,
    decision: Choice,
    reason: str,
    seen_digest: str,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Cast one vote. The last approval needed approves the proposal, one rejection rejects it.

    `seen_digest` is what the voter had on the page; 409 `approval_stale` when that has moved.
    """
    require(actor, Permission.APPROVE, proposal.product.slug)
    voter(actor, proposal)
    at = now or timezone.now()
    refuse_expired(proposal, at)
    refuse_stale(proposal)
    with transaction.atomic():
        landed = land(
            proposal,
            Move.VOTE,
            actor,
            lambda row: _cast(row, actor, decision, reason.strip(), seen_digest, at),
            expected_version=expected_version,
        )
        landed = _concluded(actor, landed, decision)
    # The vote stands whatever keeps the publication, which is a move of its own.
    return publish_if_due(landed, at)


def voter(actor: Actor, proposal: Proposal) -> User:
    """The person who votes; 403 for a machine and for whoever had a hand in the proposal."""
    why = why_not_vote(actor, proposal)
    if why or actor.user is None:
        raise Forbidden("own_proposal", why)
    return actor.user


def _cast(
    row: Proposal, actor: Actor, decision: Choice, reason: str, seen: str, at: datetime
) -> Change:
    """Write the vote, with everything asked again under the lock."""
    user = voter(actor, row)
    if seen != bound_digest(row):
        raise Conflict(
            "approval_stale", "What you saw is not what is there now. Read it, then decide on that."
        )
    if not reason:
        raise BadInput("reason_missing", "A vote needs a reason; it stays with the decision.")
    if decision == Choice.APPROVE:
        refuse_unproven(row, at)
    moved = make_room(user, row) if decision == Choice.APPROVE else {}
    role = slot_for(actor, row)
    if not role:
        asked = ", ".join(sorted(row.required))
        raise Forbidden("role_not_asked", f"This proposal asks for {asked}; you hold none of them.")
    _written(row, user, role, decision, reason, at)
    return Change(
        reason=reason,
        before=row.base_digest,
        after=row.revision_digest,
        data={
            "decision": decision,
            "role": role,
            "roles_moved": moved,
            "bound_digest": seen,
            "round": row.round,
            "signed": sentence(row.trade),
        },
    )


def _written(
    row: Proposal, user: User, role: str, decision: Choice, reason: str, at: datetime
) -> None:
    """Store the vote, of what is there now; 409 `already_voted` for a second one of the round."""
    vote = Vote(
        proposal=row,
        round=row.round,
        bound_digest=bound_digest(row),
        content_digest=row.revision_digest,
        user=user,
        role=role,
        decision=decision,
        reason=reason,
        at=at,
    )
    try:
        with transaction.atomic():
            vote.save()
    except IntegrityError as error:
        raise Conflict(
            "already_voted", "You have voted in this round; one slot a person."
        ) from error


def _concluded(actor: Actor, proposal: Proposal, decision: Choice) -> Proposal:
    """Draw the consequence of the vote just cast, in its transaction."""
    if decision == Choice.REJECT:
        move = Move.REJECT
    elif not still_missing(proposal, approvals(proposal)):
        move = Move.ACCEPT
        if goes_by_itself(proposal):
            confirmed(actor)  # nobody else is asked before it is published
    else:
        return proposal
    return land(proposal, move, actor, lambda row: Change(after=row.revision_digest))
