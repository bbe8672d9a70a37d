"""What a vote is bound to, and whether that still holds."""

from collections.abc import Callable, Collection
from hashlib import sha256
from typing import Any

import rfc8785

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from policies.models import Generation, Revision
from releases.lifecycle import Change, Move, allowed, land
from releases.models import Proposal, RecordRevision, Vote
from releases.selectors.evidence import evidence_for, worsened
from releases.services.recorded_diff import compare_with_live
from releases.states import ProposalState


def digest_of(value: Any) -> str:
    """SHA-256 over the RFC 8785 form of plain JSON."""
    return "sha256:" + sha256(rfc8785.dumps(value)).hexdigest()


def bound_digest(proposal: Proposal) -> str:
    """Everything an approver signs: content, base, evidence, trade, record, time and who else
    approves."""
    bound = {
        "content": proposal.revision_digest,
        "base": proposal.base_digest,
        "evidence": proposal.evidence_digest,
        "trade": proposal.trade_digest,
        "required": proposal.required,
        "round": proposal.round,
    }
    if proposal.record_digest:
        bound["record"] = proposal.record_digest
    if proposal.publish_at is not None:
        bound["schedule"] = [
            proposal.publish_local,
            proposal.publish_zone,
            str(proposal.publish_at),
        ]
    return digest_of(bound)


def evidence_digest(product_id: int, digest: str) -> str:
    """The evidence set of a content, whatever the order in which it came."""
    return digest_of(sorted(evidence_for(product_id, digest).values_list("digest", flat=True)))


def record_digest(proposal: Proposal) -> str:
    """What people have written into the decision record; empty where all of it is generated."""
    written = RecordRevision.objects.filter(proposal=proposal, final=False).order_by("-number")
    texts = written.values_list("texts", flat=True).first()
    return digest_of(texts) if texts else ""


def current_revision(generation: Generation) -> Revision:
    """The newest revision of a generation: what an approver believes to be deciding on."""
    return Revision.objects.filter(generation=generation).latest("number")


def reopen_if_moved(proposal: Proposal) -> bool:
    """Send a proposal back to draft when what its votes are bound to has moved.

    The votes of the round stay in its history, marked void. Returns whether it was reopened.
    """
    return reopen_where(proposal, moved)


def reopen_where(proposal: Proposal, holds_no_more: Callable[[Proposal], str]) -> bool:
    """Send a proposal back to draft for the reason that is found, asked again under the lock."""
    if not allowed(proposal, Move.REOPEN) or not holds_no_more(proposal):
        return False
    land(proposal, Move.REOPEN, SYSTEM_ACTOR, lambda row: _reopened(row, holds_no_more(row)))
    return True


def refuse_stale(proposal: Proposal) -> None:
    """Raise 409 `approval_stale` where the content or its evidence moved since the round began."""
    if proposal.state in (ProposalState.IN_REVIEW, ProposalState.APPROVED):
        why = moved(proposal)
        if why:
            reopen_if_moved(proposal)
            raise stale(why)
    elif proposal.state == ProposalState.DRAFT and proposal.round > 1:
        raise stale("It went back to draft")


def stale(why: str, code: str = "approval_stale") -> Conflict:
    """The refusal of an approval that no longer covers what is there."""
    return Conflict(code, f"{why}. Earlier votes are void; submit it for a new round of review.")


def moved(proposal: Proposal) -> str:
    """Why the binding no longer holds, in words; empty while it does."""
    if _newest_digest(proposal.generation_id) != proposal.revision_digest:
        return "The document was edited after it was submitted"
    if record_digest(proposal) != proposal.record_digest:
        return "The decision record was edited after it was submitted"
    seen = evidence_digest(proposal.product_id, proposal.revision_digest)
    return "" if seen == proposal.evidence_digest else worsened(proposal)


def _newest_digest(generation_id: int) -> str | None:
    revisions = Revision.objects.filter(generation=generation_id).order_by("-number")
    return revisions.values_list("digest", flat=True).first()


def void_votes(proposal: Proposal, why: str, but: Collection[Vote] = ()) -> int:
    """Mark the votes of the round void and say on each why; returns how many there were."""
    votes = Vote.objects.filter(proposal=proposal, round=proposal.round, void=False)
    return votes.exclude(pk__in=[vote.pk for vote in but]).update(void=True, void_why=why)


def _reopened(row: Proposal, why: str) -> Change:
    if not why:
        raise Conflict("nothing_moved", "What its votes are bound to is as it was.")
    votes = void_votes(row, why)
    current = current_revision(row.generation)
    compare_with_live(SYSTEM_ACTOR, row.product, current.digest)
    return Change(
        columns={"round": row.round + 1, "returned_why": why},
        reason=why,
        before=row.revision_digest,
        after=current.digest,
        data={"voided_votes": votes, "round": row.round},
    )
