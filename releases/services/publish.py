"""Make an approved proposal the next admission generation, or bring a product to life."""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, Invalid
from policies.models import Product, Revision
from policies.selectors import document_of
from releases.lifecycle import Change, Move, land, land_locked, lock_product, locked
from releases.models import Proposal, Publication, Rollout
from releases.services.binding import refuse_stale
from releases.services.decision_record import fix_published
from releases.services.expiry import refuse_expired
from releases.services.hindrances import CHECKS, Grounds
from releases.services.issue import Serving, issue, latest
from releases.services.prices import only_prices
from releases.services.propose import blocking_findings
from releases.services.quorum import reopen_if_lapsed
from releases.states import ProposalState, PublicationKind


def publish(
    actor: Actor,
    proposal: Proposal,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Publish the approved digest as a candidate at the first stage of its own rollout.

    One that changes prices alone is served to everybody at once, since it changes no answer.
    409: `approval_stale` when content or evidence moved, `base_changed` when something else was
    published since, `approval_lapsed` when an approver lost the role, `rollout_open` meanwhile.
    """
    at = now or timezone.now()
    try:
        return land(
            proposal,
            Move.PUBLISH,
            actor,
            lambda row: _published(row, actor, at),
            expected_version=expected_version,
        )
    except Conflict:
        # A round that is over is sent back by a move of its own, which the refusal would undo.
        refuse_expired(proposal, at)
        refuse_stale(proposal)
        reopen_if_lapsed(proposal)
        raise


@transaction.atomic
def bootstrap(
    actor: Actor, product: Product, revision: Revision, reason: str, now: datetime | None = None
) -> Publication:
    """Publish a product's first generation: there is nothing live that a review could compare with.

    Needs a person's or the system's right to publish and a reason; 409 once anything is published.
    """
    product = lock_product(product.pk)
    require(actor, Permission.PUBLISH, product.slug)
    if latest(product) is not None:
        raise Conflict("already_live", "This product is live; the next generation needs a review.")
    if not reason.strip():
        raise BadInput("reason_missing", "Say why this generation begins the product.")
    findings = blocking_findings(product, revision.digest, "")
    if findings:
        raise Invalid("findings", "The document breaks its own rules.", errors=findings)
    publication = issue(
        product,
        PublicationKind.PUBLISH,
        Serving(revision.digest),
        actor=actor.name,
        reason=reason,
        now=now or timezone.now(),
    )
    record(
        actor,
        "publication.bootstrap",
        product=product.slug,
        obj=("publication", publication.number),
        after=revision.digest,
        reason=reason,
    )
    return publication


def _published(row: Proposal, actor: Actor, now: datetime) -> Change:
    """Everything the approval rested on, asked again under the product's lock."""
    grounds = Grounds(row, now)
    for check in CHECKS:
        check(grounds)
    publication = _issue_first_stage(grounds, actor)
    supersede_earlier(row, actor)
    return Change(
        reason=row.title,
        before=row.base_digest,
        after=row.revision_digest,
        data={"publication": publication.number, "round": row.round},
        on_commit=[partial(fix_published, row, actor, now)],
    )


def _issue_first_stage(grounds: Grounds, actor: Actor) -> Publication:
    row, live, now = grounds.row, grounds.live, grounds.now
    serving, kind = Serving(row.revision_digest), PublicationKind.PUBLISH
    in_stages = live is not None and not only_prices(live.target_digest, row.revision_digest)
    if live is not None and in_stages:
        stage = document_of(row.revision_digest).rollout.stages[0]
        serving = Serving(live.target_digest, row.revision_digest, stage.fraction)
    elif live is not None:
        kind = PublicationKind.PRICE_CHANGE
    publication = issue(
        row.product,
        kind,
        serving,
        actor=actor.name,
        reason=row.title,
        now=now,
        votes=grounds.approvals,
        previous=live,
    )
    if in_stages:
        Rollout.objects.create(
            product=row.product,
            proposal=row,
            first=publication,
            publication=publication,
            candidate_digest=row.revision_digest,
            created_at=now,
        )
    return publication


def supersede_earlier(row: Proposal, actor: Actor) -> None:
    """Earlier decisions of the product are history now; each says so itself."""
    for earlier in locked(Proposal, row.product, state=ProposalState.PUBLISHED):
        land_locked(
            earlier,
            Move.SUPERSEDE,
            actor,
            lambda old: Change(before=old.revision_digest, after=row.revision_digest),
        )
