"""A round of review that lasted too long ends by itself, and says so."""

from datetime import datetime, timedelta

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import duration_words
from releases.lifecycle import Change, Move, allowed, land
from releases.models import Proposal
from releases.services.binding import void_votes
from releases.services.in_force import approval_rules, ruling


def expires_at(proposal: Proposal, rules: PolicyDocument | None = None) -> datetime | None:
    """When the round ends by itself, by the rules in force; None before it began.

    A time to publish at keeps it open until then, with what it may be late.
    """
    if proposal.submitted_at is None:
        return None
    rules = rules or ruling(proposal)
    ends = proposal.submitted_at + timedelta(milliseconds=rules.approvals.expire_after)
    if proposal.publish_at is None:
        return ends
    grace = timedelta(milliseconds=rules.rollout.schedule_grace)
    return max(ends, proposal.publish_at + grace)


def expire_if_due(proposal: Proposal, now: datetime) -> bool:
    """Send a round that lasted too long back to draft. Returns whether it did."""
    if not allowed(proposal, Move.EXPIRE) or not is_due(proposal, now):
        return False
    land(proposal, Move.EXPIRE, SYSTEM_ACTOR, lambda row: _expired(row, now))
    return True


def refuse_expired(proposal: Proposal, now: datetime) -> None:
    """Raise 409 `approval_expired` where the round is over, whether or not the tick has seen it."""
    if expire_if_due(proposal, now):
        raise expired()


def expired() -> Conflict:
    """The refusal of whatever rests on a round that is over."""
    return Conflict(
        "approval_expired",
        "The round of review lasted too long and is over. Submit it again, against what is live "
        "now.",
    )


def is_due(proposal: Proposal, now: datetime, rules: PolicyDocument | None = None) -> bool:
    """Whether the round is over by now, by the rules in force."""
    ends = expires_at(proposal, rules)
    return ends is not None and ends <= now


def _expired(row: Proposal, now: datetime) -> Change:
    if not is_due(row, now):
        raise Conflict("not_due", "The round has time left.")
    within = duration_words(approval_rules(row).expire_after)
    why = f"It expired: no round of review lasts longer than {within}"
    return Change(
        columns={"round": row.round + 1, "returned_why": why},
        reason=why,
        before=row.revision_digest,
        data={"voided_votes": void_votes(row, why), "round": row.round},
    )
