"""Back to the last good content in one move that waits for nothing."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict
from policies.models import Product
from releases.lifecycle import Change, Move, allowed, land_locked, lock_product, locked
from releases.models import Publication, Rollout
from releases.selectors.proven import deciding, target
from releases.selectors.segments import concerned
from releases.services.issue import Serving, issue, latest
from releases.states import OPEN_ROLLOUTS, PublicationKind


def roll_back(
    actor: Actor,
    product: Product,
    reason: str,
    *,
    to: int | None = None,
    leaves: str | None = None,
    now: datetime | None = None,
) -> tuple[Publication, bool]:
    """A new publication with the last good content, or with that of publication `to`.

    Returns it and whether this call made it: asking again while the last publication is that
    rollback changes nothing. No gate, approval or edge is waited for. An advance under way
    loses the product's lock or finds the rollout closed. 409 `nothing_to_restore` on a first one,
    `live_changed` where other content than the digest `leaves` is live by now.
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
        _refuse_other(current, leaves)
        return _restore(locked, current, digest, actor, reason.strip(), at), True


def _refuse_other(current: Publication, leaves: str | None) -> None:
    """A click meant for what was on the page takes nothing else away; a further stage is the same.

    Who asks for a rollback without looking names no content, and leaves whatever is live.
    """
    if leaves and current.target_digest != leaves:
        raise Conflict(
            "live_changed",
            f"Publication {current.number} ({current.get_kind_display().lower()}) leads to other "
            "content than you were looking at. Look again before you roll it back.",
        )


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
        previous=current,
    )
    rollout = _rollout_of(product, current)
    words = {
        "publication": publication.number,
        "left": current.number,
        "segments": concerned(product, current.target_digest),
    }
    if rollout is not None and allowed(rollout, Move.ROLL_BACK):
        land_locked(
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


def _rollout_of(product: Product, current: Publication) -> Rollout | None:
    """The one under way, else the one that ended with what is live; locked."""
    found = locked(Rollout, product, state__in=OPEN_ROLLOUTS)
    found = found or locked(Rollout, product, publication=deciding(product, current))
    return found[0] if found else None


def _closed(
    row: Rollout, publication: Publication, reason: str, now: datetime, words: dict[str, Any]
) -> Change:
    return Change(
        columns={"publication": publication, "closed_at": now, "reason": reason},
        reason=reason,
        before=row.candidate_digest,
        after=publication.incumbent_digest,
        data=dict(words),
    )
