"""Make an approved proposal the next admission generation, or bring a product to life."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, Invalid
from policies.models import Product, Revision
from policies.selectors import document_of
from releases.lifecycle import Change, Move, land, lock_product
from releases.models import Proposal, Publication, Rollout
from releases.selectors.record_texts import generated
from releases.services.binding import refuse_stale
from releases.services.decision_record import fix as fix_record
from releases.services.expiry import refuse_expired
from releases.services.hindrances import CHECKS
from releases.services.issue import Serving, issue, latest
from releases.services.prices import only_prices
from releases.services.propose import blocking_findings
from releases.services.quorum import approvals
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
    require(actor, Permission.PUBLISH, proposal.product.slug)
    at = now or timezone.now()
    refuse_expired(proposal, at)
    refuse_stale(proposal)
    seen, facts = proposal.version, generated(proposal)
    return land(
        proposal,
        Move.PUBLISH,
        actor,
        # Whoever moved it since, by a last vote say, made other facts of it.
        lambda row: _published(row, actor, at, facts if row.version == seen else None),
        expected_version=expected_version,
    )


@transaction.atomic
def bootstrap(
    actor: Actor, product: Product, revision: Revision, reason: str, now: datetime | None = None
) -> Publication:
    """Publish a product's first generation: there is nothing live that a review could compare with.

    Needs a person's or the system's right to publish and a reason; 409 once anything is published.
    """
    locked = lock_product(product.pk)
    require(actor, Permission.PUBLISH, product.slug)
    if latest(locked) is not None:
        raise Conflict("already_live", "This product is live; the next generation needs a review.")
    if not reason.strip():
        raise BadInput("reason_missing", "Say why this generation begins the product.")
    findings = blocking_findings(product, revision.digest, "")
    if findings:
        raise Invalid("findings", "The document breaks its own rules.", errors=findings)
    publication = issue(
        locked,
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


def _published(
    row: Proposal, actor: Actor, now: datetime, facts: Mapping[str, str] | None
) -> Change:
    """Everything the approval rested on, asked again under the product's lock."""
    for check in CHECKS:
        check(row, now)
    live = latest(row.product)
    publication = _issue_first_stage(row, live, actor, now)
    fix_record(row, actor, now, facts)
    supersede_earlier(row, actor)
    return Change(
        reason=row.title,
        before=row.base_digest,
        after=row.revision_digest,
        data={"publication": publication.number, "round": row.round},
    )


def _issue_first_stage(
    row: Proposal, live: Publication | None, actor: Actor, now: datetime
) -> Publication:
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
        votes=approvals(row),
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
    earlier = Proposal.objects.filter(product=row.product, state=ProposalState.PUBLISHED)
    for proposal in earlier.exclude(pk=row.pk):
        land(
            proposal,
            Move.SUPERSEDE,
            actor,
            lambda old: Change(before=old.revision_digest, after=row.revision_digest),
        )
