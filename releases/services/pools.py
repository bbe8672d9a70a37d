"""The pools of replicas that a publication names, what keeps one warm, and what has no room."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from controlplane.errors import Conflict
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
from orchid.engine.overlap import Overlap, overlap
from policies.models import Product
from policies.selectors import document_of
from releases.models import PoolRelease, Publication
from releases.selectors.told import open_sequences, untold


def pools_for(
    product: Product, served: Collection[str], previous: Publication | None, now: datetime
) -> dict[str, str]:
    """Pools by digest: what is served, and every earlier one that nobody has let go.

    An earlier generation that shares its pool and all its manifests with what is served holds
    nothing of its own: it leaves by itself, once it is not the last one and every edge is known to
    run nothing under it.
    """
    kept = _kept(product, served, previous, now) if previous else {}
    return {**kept, **{digest: pool_of(digest) for digest in served}}


def pool_of(digest: str) -> str:
    """The pool of replicas that a generation runs on; a document that names none has its own."""
    document = document_of(digest)
    return document.fleet.pool or document.product


def released(product: Product, digests: Collection[str]) -> dict[str, PoolRelease]:
    """The releases in force, by digest: a generation that was published again needs its pool."""
    served_since = Publication.objects.filter(
        Q(incumbent_digest=OuterRef("digest")) | Q(candidate_digest=OuterRef("digest")),
        product=OuterRef("product"),
        number__gt=OuterRef("publication"),
    )
    rows = PoolRelease.objects.filter(product=product, digest__in=digests)
    found: dict[str, PoolRelease] = {}
    for row in rows.exclude(Exists(served_since)):
        found.setdefault(row.digest, row)
    return found


def refuse_overlap(product: Product, digest: str, newest: Publication | None) -> None:
    """Refuse content that would overlap in place with what its pool holds by the newest bundle.

    Conflict `no_room_in_pool` says the sum. Where neither side declares a residency ledger, or a
    model names no weights, there is nothing to add up and nothing is refused.
    """
    coming, named = document_of(digest), _in_its_pool(digest, newest)
    found = overlap(coming, named.values())
    if found is None or found.fits:
        return
    let_go = released(product, named)
    found = overlap(coming, [named[one] for one in sorted(named) if one not in let_go])
    if found is not None and not found.fits:
        raise Conflict("no_room_in_pool", _no_room(pool_of(digest), found))


def _in_its_pool(digest: str, newest: Publication | None) -> dict[str, PolicyDocument]:
    """The other generations that the newest publication names in the same pool."""
    pools, pool = newest.pools if newest else {}, pool_of(digest)
    return {one: document_of(one) for one, name in pools.items() if name == pool and one != digest}


def _no_room(pool: str, found: Overlap) -> str:
    held = (f"{weights} ({decimal_text(gib)} GiB)" for weights, gib in found.others.items())
    ledger = found.ledger
    return (
        f"Pool {pool} still holds {' and '.join(held)} for {' and '.join(found.routes)}. Beside "
        f"{decimal_text(ledger.used_gib)} GiB in use that is {decimal_text(found.needed_gib)} GiB, "
        f"and a device has {decimal_text(ledger.device_gib)} GiB. Name a pool of its own, or "
        "release what the pool holds once nothing runs on it."
    )


def _kept(
    product: Product, served: Collection[str], previous: Publication, now: datetime
) -> dict[str, str]:
    until_now = {previous.incumbent_digest, previous.candidate_digest}
    owed = {digest for digest, count in open_sequences(product).items() if count}
    kept = previous.pools.keys() - released(product, previous.pools).keys()
    if untold(product, now):  # an edge that doesn't tell may run anything that wasn't let go
        owed |= kept
    return {
        digest: pool
        for digest, pool in previous.pools.items()
        if digest in owed
        or (digest in kept and (digest in until_now or _holds_its_own(digest, pool, served)))
    }


def _holds_its_own(digest: str, pool: str, served: Collection[str]) -> bool:
    """Whether its pool keeps something warm that nothing served needs."""
    same_pool = [document_of(one) for one in served if pool_of(one) == pool]
    needed = {manifest_digest(model) for one in same_pool for model in one.models.values()}
    mine = {manifest_digest(model) for model in document_of(digest).models.values()}
    return not mine <= needed
