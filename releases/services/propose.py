"""Open a proposal, submit it for review, take it back."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, Invalid, NotFound
from gates.selectors.evidence import book_for
from gates.services import cite
from orchid.engine.document.consistency import RouteUtility, find
from orchid.engine.document.difference import required_approvals
from orchid.engine.document.model import PolicyDocument
from policies.models import Generation, Product, Revision
from policies.selectors import difference, document_of
from releases.lifecycle import Change, Move, land
from releases.models import Contributor, Proposal
from releases.selectors.trade import trade_of
from releases.services.binding import (
    current_revision,
    digest_of,
    evidence_digest,
    record_digest,
)
from releases.services.issue import latest
from releases.services.rebase import refuse_behind
from releases.services.recorded_diff import compare_with_live
from releases.states import Part


def propose(
    actor: Actor, product: Product, number: int, title: str, rationale: str = ""
) -> Proposal:
    """Open a draft for a generation's newest revision and record who contributed to it."""
    require(actor, Permission.PROPOSE, product.slug)
    generation = Generation.objects.filter(product=product, number=number).first()
    if generation is None:
        raise NotFound("not_found", f"{product.slug} has no generation {number}.")
    if not title.strip():
        raise BadInput("title_missing", "A proposal needs a title that reviewers can recognise.")
    try:
        with transaction.atomic():
            proposal = _create(actor, generation, title.strip(), rationale.strip())
            compare_with_live(actor, product, proposal.revision_digest)
            record(
                actor,
                "proposal.created",
                product=product.slug,
                obj=("proposal", proposal.pk),
                after=proposal.revision_digest,
                data={"generation": number, "title": proposal.title},
            )
    except IntegrityError as error:
        raise Conflict(
            "already_proposed", f"Generation {number} already has an open proposal."
        ) from error
    return proposal


def submit(
    actor: Actor,
    proposal: Proposal,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Begin a round of review on the newest revision against what is live now.

    Raises 422 `findings` while the document has an error, 409 `nothing_changes` for live content,
    `base_changed` where something else became live since the text was begun, submitted or rebased.
    """
    at = now or timezone.now()
    return land(
        proposal,
        Move.SUBMIT,
        actor,
        lambda row: _submitted(actor, row, at),
        expected_version=expected_version,
    )


def withdraw(
    actor: Actor, proposal: Proposal, reason: str, *, expected_version: int | None = None
) -> Proposal:
    """Take a proposal back before it is published."""
    return land(
        proposal,
        Move.WITHDRAW,
        actor,
        lambda row: Change(reason=reason, before=row.revision_digest),
        expected_version=expected_version,
    )


def record_contributors(proposal: Proposal) -> None:
    """Write down everyone with a hand in it; asked again at every submit, vote and publish."""
    hands = {(proposal.author_user_id, Part.AUTHOR), (proposal.owner_user_id, Part.TOKEN_OWNER)}
    written = Revision.objects.filter(generation=proposal.generation_id)
    for editor, owner, beginner, owner_then in written.values_list(
        "created_by_user_id",
        "owner_user_id",
        "generation__created_by_user_id",
        "generation__owner_user_id",
    ):
        hands |= {(one, Part.CO_EDITOR) for one in (editor, beginner)}
        hands |= {(one, Part.TOKEN_OWNER) for one in (owner, owner_then)}
    Contributor.objects.bulk_create(
        [
            Contributor(proposal=proposal, user_id=pk, part=part)
            for pk, part in hands
            if pk and (part, pk) != (Part.CO_EDITOR, proposal.author_user_id)
        ],
        ignore_conflicts=True,
    )


def blocking_findings(product: Product, digest: str, base: str) -> list[dict[str, Any]]:
    """What has to be put right in a document before anyone is asked to review it."""
    document = document_of(digest)
    valid = book_for(product, document, timezone.now()).valid
    known = [RouteUtility(item.route, item.where, item.mean) for item in valid]
    found = find(document, base=document_of(base) if base else None, evidence=known)
    errors = [
        {"code": finding.code, "pointer": finding.pointer, "text": finding.text}
        for finding in found
        if finding.severity == "error"
    ]
    return errors + _unfinished_rollout(document)


def _unfinished_rollout(document: PolicyDocument) -> list[dict[str, Any]]:
    stages = document.rollout.stages
    if stages and stages[-1].fraction == 1.0:
        return []
    text = "The last stage must be a canary of 1.0; else the candidate never serves everyone."
    pointer = f"/rollout/stages/{max(len(stages) - 1, 0)}"
    return [{"code": "rollout_never_whole", "pointer": pointer, "text": text}]


def _create(actor: Actor, generation: Generation, title: str, rationale: str) -> Proposal:
    proposal = Proposal.objects.create(
        product_id=generation.product_id,
        generation=generation,
        revision_digest=current_revision(generation).digest,
        title=title,
        rationale=rationale,
        author=actor.name,
        author_user=actor.user,
        owner_user=actor.credential.owner if actor.credential else None,
        created_at=timezone.now(),
    )
    record_contributors(proposal)
    return proposal


def _submitted(actor: Actor, row: Proposal, now: datetime) -> Change:
    revision = current_revision(row.generation)
    live = latest(row.product)
    base = live.target_digest if live else ""
    if revision.digest == base:
        raise Conflict("nothing_changes", "This content is what is live already.")
    refuse_behind(row, revision, live)
    findings = blocking_findings(row.product, revision.digest, base)
    if findings:
        raise Invalid("findings", "The document breaks its own rules.", errors=findings)
    record_contributors(row)
    compare_with_live(actor, row.product, revision.digest)
    trade = trade_of(row.product, revision, live)
    if trade["base"]:
        cite(trade["base"]["evaluation"])  # the votes rest on what was measured there
    return Change(
        columns={
            "revision_digest": revision.digest,
            "base_publication": live.number if live else None,
            "base_digest": base,
            "evidence_digest": evidence_digest(row.product_id, revision.digest),
            "record_digest": record_digest(row),
            "trade": trade,
            "trade_digest": digest_of(trade),
            "required": required_for(base, revision.digest),
            "submitted_at": now,
            "returned_why": "",
        },
        before=base,
        after=revision.digest,
        data={"round": row.round, "base_publication": live.number if live else None},
    )


def required_for(base: str, digest: str) -> dict[str, int]:
    """How many people of which role must approve, by what the change touches."""
    if not base:
        return required_approvals(None, [])
    return required_approvals(document_of(base), difference(base, digest))
