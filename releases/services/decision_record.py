"""Write into a decision record: people until it is published, then publication itself, once."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR, Actor, Permission, require
from accounts.services import record as audit
from controlplane.errors import BadInput, Conflict
from policies.models import Product
from releases.lifecycle import lock_product
from releases.models import Contributor, Proposal, RecordRevision
from releases.selectors.record import Record, digest_of_sections, record_of
from releases.selectors.record_texts import generated, titles
from releases.services.binding import reopen_if_moved
from releases.states import Part, ProposalState

#: Characters of one section.
LONGEST = 20_000


def edit(
    actor: Actor,
    proposal: Proposal,
    texts: Mapping[str, str],
    *,
    expected_revision: int,
    now: datetime | None = None,
) -> Record:
    """Store what a person makes of the record as its next revision; the old ones stay.

    A section that says what is generated, or nothing, follows the facts again. Whoever writes had
    a hand in the proposal; during a review it ends the round, whose votes were for what it said.
    409 `record_fixed` after publication, `record_changed` where somebody else wrote meanwhile.
    """
    with transaction.atomic():
        lock_product(proposal.product_id)
        require(actor, Permission.PROPOSE, proposal.product.slug)
        fresh = Proposal.objects.select_related("product", "generation").get(pk=proposal.pk)
        found = record_of(fresh)
        _refuse(found, expected_revision)
        _write(actor, fresh, found, texts, now or timezone.now())
        if actor.owner is not None:
            Contributor.objects.get_or_create(proposal=fresh, user=actor.owner, part=Part.RECORDER)
        reopen_if_moved(fresh)
        fresh.refresh_from_db()
    return record_of(fresh)


def _write(
    actor: Actor, proposal: Proposal, found: Record, texts: Mapping[str, str], now: datetime
) -> None:
    facts = {section.key: section.generated for section in found.sections}
    own = _own(texts, facts)
    before = dict(found.revisions[-1].texts) if found.revisions else {}
    if own == before:
        raise Conflict("nothing_changes", "The record says this already.")
    row = _append(proposal, found.number + 1, own, facts, actor.name, now)
    changed = sorted(key for key in {*own, *before} if own.get(key) != before.get(key))
    audit(
        actor,
        "record.edited",
        product=proposal.product.slug,
        obj=("proposal", proposal.pk),
        before=digest_of_sections({s.key: s.text for s in found.sections}),
        after=digest_of_sections(facts | own),
        data={"revision": row.number, "sections": changed},
    )


def fix_published(proposal: Proposal, actor: Actor, now: datetime) -> None:
    """Fix the record of what has just been committed, so that no edge waits for its texts.

    Nobody can edit it any more; what is not done here is done by the next tick.
    """
    facts = generated(proposal)
    with transaction.atomic():
        lock_product(proposal.product_id)
        fix(proposal, actor, now, facts)


def fix(
    proposal: Proposal, actor: Actor, now: datetime, facts: Mapping[str, str]
) -> RecordRevision:
    """Write the last revision, once: from now on the record is what it says."""
    last = RecordRevision.objects.filter(proposal=proposal).order_by("-number").first()
    if last is not None and last.final:
        return last
    texts = {**facts, **(last.texts if last else {})}
    number = last.number + 1 if last else 1
    return _append(proposal, number, texts, facts, actor.name, now, final=True)


def _refuse(found: Record, expected: int) -> None:
    if not found.may_be_edited:
        state = found.proposal.get_state_display().lower()
        raise Conflict("record_fixed", f"The proposal is {state}; its record stays as it is.")
    if found.number != expected:
        raise Conflict(
            "record_changed",
            f"Revision {found.number} is there, you began from {expected}. Look at it, then write "
            "yours again.",
        )


def _own(texts: Mapping[str, str], facts: Mapping[str, str]) -> dict[str, str]:
    """What a person wrote, without what only repeats the facts."""
    unknown = sorted(set(texts) - set(titles()))
    if unknown:
        raise BadInput("unknown_section", f"A record has no section {', '.join(unknown)}.")
    own = {key: text.replace("\r\n", "\n").strip() for key, text in texts.items()}
    long = [key for key, text in own.items() if len(text) > LONGEST]
    if long:
        raise BadInput("too_long", f"At most {LONGEST:,} characters: {', '.join(long)}.")
    return {key: text for key, text in own.items() if text and text != facts[key].strip()}


def _append(
    proposal: Proposal,
    number: int,
    texts: Mapping[str, str],
    facts: Mapping[str, str],
    by: str,
    at: datetime,
    *,
    final: bool = False,
) -> RecordRevision:
    return RecordRevision.objects.create(
        proposal=proposal,
        number=number,
        texts=dict(texts),
        generated_digest=digest_of_sections(dict(facts)),
        written_by=by,
        at=at,
        final=final,
    )


def step(product: Product, now: datetime) -> None:
    """Fix what was published in an emergency, or by a process that ended then: within a tick."""
    fixed = RecordRevision.objects.filter(proposal=OuterRef("pk"), final=True)
    unfixed = Proposal.objects.filter(product=product, state=ProposalState.PUBLISHED)
    for proposal in unfixed.exclude(Exists(fixed)).select_related("product", "generation"):
        fix(proposal, SYSTEM_ACTOR, now, generated(proposal))
