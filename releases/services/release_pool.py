"""Let a generation's pool go: only once nothing runs under it and its costs are counted."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict
from policies.models import Product
from releases.lifecycle import lock_product
from releases.models import PoolRelease
from releases.selectors.reconciliation import PoolFact, pool_fact
from releases.services.issue import latest


def release_pool(
    actor: Actor, product: Product, digest: str, reason: str, now: datetime | None = None
) -> tuple[PoolRelease, bool]:
    """Release what one generation holds of its pool; the next publication doesn't name it.

    Returns the release and whether this call made it. 409 `pool_serves`, `rollout_open`,
    `sequences_open` or `accounting_open`, with everything that keeps it; nothing is stopped here.
    """
    require(actor, Permission.PUBLISH, product.slug)
    if not reason.strip():
        raise BadInput("reason_missing", "Say why this pool is not needed any more.")
    at = now or timezone.now()
    with transaction.atomic():
        locked = lock_product(product.pk)
        fact = pool_fact(locked, digest, at)
        if fact.release is not None:
            return fact.release, False
        if fact.blockers:
            raise _refused(fact)
        return _released(actor, locked, fact, reason.strip(), at), True


def _refused(fact: PoolFact) -> Conflict:
    reasons = [{"code": one.code, "text": one.text} for one in fact.blockers]
    detail = " ".join(one.text for one in fact.blockers)
    return Conflict(fact.blockers[0].code, f"Pool {fact.pool} stays. {detail}", errors=reasons)


def _released(
    actor: Actor, product: Product, fact: PoolFact, reason: str, now: datetime
) -> PoolRelease:
    current = latest(product)
    assert current is not None, "a pool has a publication that named it"
    row = PoolRelease.objects.create(
        product=product,
        digest=fact.digest,
        pool=fact.pool,
        publication=current.number,
        released_at=now,
        actor=actor.name,
        reason=reason,
    )
    record(
        actor,
        "pool.release",
        product=product.slug,
        obj=("pool", fact.pool),
        before=fact.digest,
        reason=reason,
        data={
            "publication": current.number,
            "generation": fact.generation,
            "settled_at": fact.settled_at.isoformat() if fact.settled_at else None,
            "edges": [one.edge for one in fact.holdings],
            "abandoned": {one.edge: one.sequences for one in fact.abandoned},
        },
    )
    return row
