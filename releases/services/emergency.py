"""Publish at once and alone, for which somebody else owes a second look."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.roles import Role
from controlplane.errors import BadInput, Conflict, Forbidden, Invalid
from policies.models import Product
from releases.lifecycle import Change, Move, land, land_locked, locked
from releases.models import Proposal, Publication, Rollout, Vote
from releases.selectors.segments import concerned
from releases.services.binding import current_revision, moved, void_votes
from releases.services.in_force import settled_digest
from releases.services.issue import Serving, issue, latest
from releases.services.pools import refuse_overlap
from releases.services.propose import blocking_findings, record_contributors, required_for
from releases.services.publish import supersede_earlier
from releases.services.quorum import approvals
from releases.services.second_look import open_second_look
from releases.states import OPEN_ROLLOUTS, PublicationKind, SecondLookKind


@dataclass(frozen=True)
class Seen:
    """What somebody had before them: the text by digest, and what is live that it would leave."""

    digest: str
    leaves: str = ""


def publish_in_emergency(
    actor: Actor,
    proposal: Proposal,
    reason: str,
    seen: Seen,
    *,
    kind: SecondLookKind = SecondLookKind.EMERGENCY_PUBLISH,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Serve a proposal's newest text to everyone at once, without votes, rollout or freeze.

    An open rollout is closed in the same transaction. A person's act with a reason; 422 `findings`
    while the document has an error, 409 `nothing_changes` for what is live already, `text_moved`
    and `live_changed` where other content would come or go than was looked at.
    """
    require(actor, Permission.EMERGENCY, proposal.product.slug)
    at = now or timezone.now()
    return land(
        proposal,
        Move.EMERGENCY,
        actor,
        lambda row: _published(row, actor, reason.strip(), seen, kind, at),
        expected_version=expected_version,
    )


def _published(
    row: Proposal, actor: Actor, reason: str, seen: Seen, kind: SecondLookKind, now: datetime
) -> Change:
    live = _checked(row, actor, reason)
    digest = current_revision(row.generation).digest
    base = settled_digest(row.product, live)
    _refuse_unseen(seen, digest, base)
    _refuse_content(row.product, digest, base, live)
    record_contributors(row)
    required = required_for(base, digest)
    votes = _still_bound(row, digest, base, required)
    publication = issue(
        row.product,
        PublicationKind.EMERGENCY,
        Serving(digest),
        actor=actor.name,
        reason=reason,
        now=now,
        votes=votes,
        previous=live,
    )
    _close_rollout(row.product, actor, publication, reason, now)
    look = open_second_look(
        actor, row.product, kind, publication, reason, now, asked_of=_asked_of(required)
    )
    supersede_earlier(row, actor)
    return Change(
        columns={
            "revision_digest": digest,
            "base_publication": live.number,
            "base_digest": base,
            "required": required,
        },
        reason=reason,
        before=base,
        after=digest,
        data={"publication": publication.number, "kind": kind, "look_due_at": str(look.due_at)},
    )


def _checked(row: Proposal, actor: Actor, reason: str) -> Publication:
    if actor.user is None:
        raise Forbidden("person_needed", "An emergency is a person’s act; a machine has none.")
    if not reason:
        raise BadInput("reason_missing", "Say what the emergency is; it is looked at afterwards.")
    live = latest(row.product)
    if live is None:
        raise Conflict("not_live", "Nothing is live yet; publish the first generation instead.")
    return live


def _refuse_unseen(seen: Seen, digest: str, base: str) -> None:
    if seen.digest != digest:
        raise Conflict(
            "text_moved",
            f"The text of this proposal is {digest} by now, you looked at {seen.digest}. Look at "
            "what it changes before you publish it to everyone.",
        )
    if seen.leaves and seen.leaves != base:
        raise Conflict(
            "live_changed",
            "Something else became live since you looked. Look at what this would change now "
            "before you publish it to everyone.",
        )


def _still_bound(row: Proposal, digest: str, base: str, required: dict[str, int]) -> list[Vote]:
    """The approvals that were of exactly this; all others are void and say why."""
    why = moved(row)
    row.revision_digest, row.base_digest, row.required = digest, base, required
    kept = [] if why else approvals(row)
    void_votes(row, why or "It went out in an emergency as something else than they saw", kept)
    return kept


def _refuse_content(product: Product, digest: str, base: str, live: Publication) -> None:
    if digest == base:
        raise Conflict("nothing_changes", "This content is what is live already.")
    # What is wrong with what is live already is no reason to leave it without this.
    known = blocking_findings(product, base, base)
    findings = [one for one in blocking_findings(product, digest, base) if one not in known]
    if findings:
        raise Invalid("findings", "The document breaks its own rules.", errors=findings)
    refuse_overlap(product, digest, live)


def _asked_of(required: dict[str, int]) -> list[str]:
    """Who looks: the product's owners where the change would have needed them, else SRE as well."""
    if Role.PRODUCT_OWNER in required:
        return [Role.PRODUCT_OWNER]
    return [Role.PRODUCT_OWNER, Role.SRE]


def _close_rollout(
    product: Product, actor: Actor, publication: Publication, reason: str, now: datetime
) -> None:
    columns: dict[str, Any] = {"publication": publication, "closed_at": now, "reason": reason}
    for rollout in locked(Rollout, product, state__in=OPEN_ROLLOUTS):
        land_locked(
            rollout,
            Move.ROLL_BACK,
            actor,
            lambda row: Change(
                columns=columns,
                reason=reason,
                before=row.candidate_digest,
                after=publication.incumbent_digest,
                data={
                    "publication": publication.number,
                    "segments": concerned(product, row.candidate_digest),
                },
            ),
        )
