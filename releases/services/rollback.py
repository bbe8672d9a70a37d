"""Back to the last good content in one move that waits for nothing."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, NotFound
from policies.models import Product
from releases.lifecycle import Change, Move, allowed, land, lock_product
from releases.models import Publication, Rollout
from releases.services.issue import Serving, issue, latest
from releases.states import PublicationKind, RolloutState


def roll_back(
    actor: Actor,
    product: Product,
    reason: str,
    *,
    to: int | None = None,
    now: datetime | None = None,
) -> tuple[Publication, bool]:
    """A new publication with the last good content, or with that of publication `to`.

    Returns it and whether this call made it: asking again while the last publication is that
    rollback changes nothing. No gate, approval or edge is waited for. An advance under way
    loses the product's lock or finds the rollout closed. 409 `nothing_to_restore` on a first one.
    """
    require(actor, Permission.ROLLBACK, product.slug)
    if not reason.strip():
        raise BadInput("reason_missing", "A rollback needs a reason for whoever is next.")
    at = now or timezone.now()
    with transaction.atomic():
        locked = lock_product(product.pk)
        current = latest(locked)
        if current is None:
            raise Conflict("nothing_to_restore", "Nothing has been published yet.")
        digest = target(locked, current, to)
        if digest is None:
            return current, False
        return _restore(locked, current, digest, actor, reason.strip(), at), True


def target(product: Product, current: Publication, to: int | None = None) -> str | None:
    """The digest a rollback would restore; None when the rollback has already happened."""
    if to is None:
        if current.candidate_digest is not None:
            return current.incumbent_digest
        if current.kind == PublicationKind.ROLLBACK:
            return None
        raise Conflict("nothing_to_restore", "No earlier content of this product was ever live.")
    chosen = Publication.objects.filter(product=product, number=to).first()
    if chosen is None:
        raise NotFound("not_found", f"There is no publication {to}.")
    digest = _proven(product, chosen)
    settled = current.candidate_digest is None and current.incumbent_digest == digest
    return None if settled else digest


def _proven(product: Product, chosen: Publication) -> str:
    """What a publication stood for once it had been proven: its candidate only if it came through.

    A candidate that was stopped on its way is no earlier good content, even where it had everyone.
    """
    candidate = chosen.candidate_digest
    if candidate is None or chosen.fraction < 1.0:
        return chosen.incumbent_digest
    rollouts = Rollout.objects.filter(product=product, candidate_digest=candidate)
    completed = rollouts.filter(state=RolloutState.COMPLETED).exists()
    followed = Publication.objects.filter(product=product, incumbent_digest=candidate).exists()
    return candidate if completed or followed else chosen.incumbent_digest


def _restore(
    product: Product, current: Publication, digest: str, actor: Actor, reason: str, now: datetime
) -> Publication:
    publication = issue(
        product,
        PublicationKind.ROLLBACK,
        Serving(digest),
        actor=actor.name,
        reason=reason,
        now=now,
    )
    rollout = Rollout.objects.filter(product=product, publication=current).first()
    words = {"publication": publication.number, "left": current.number}
    if rollout is not None and allowed(rollout, Move.ROLL_BACK):
        land(
            rollout,
            Move.ROLL_BACK,
            actor,
            lambda row: _closed(row, publication, reason, now, words),
        )
    else:
        record(
            actor,
            "publication.rollback",
            product=product.slug,
            obj=("publication", publication.number),
            before=current.target_digest,
            after=digest,
            reason=reason,
            data=words,
        )
    return publication


def _closed(
    row: Rollout, publication: Publication, reason: str, now: datetime, words: dict[str, int]
) -> Change:
    return Change(
        columns={"publication": publication, "closed_at": now, "reason": reason},
        reason=reason,
        before=row.candidate_digest,
        after=publication.incumbent_digest,
        data=dict(words),
    )
