"""The pools of replicas that a publication names, what keeps one warm, and what has no room."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q

from controlplane.errors import Conflict
from orchid.engine import memory
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.demand import Model
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
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
    document, held = document_of(digest), _held_in_pool(product, digest, newest)
    ledger = _ledger(document, *held)
    if ledger is None:
        return
    for route, model in document.models.items():
        others = _other_versions(route, model, held)
        needed = ledger.used_gib + sum(others.values(), Decimal())
        if needed > ledger.device_gib:
            said = _no_room(pool_of(digest), route, ledger, others, needed)
            raise Conflict("no_room_in_pool", said)


def _held_in_pool(
    product: Product, digest: str, newest: Publication | None
) -> list[PolicyDocument]:
    """The other generations that its pool holds by the newest publication, if room is counted."""
    pools, pool = newest.pools if newest else {}, pool_of(digest)
    same = {one: document_of(one) for one, name in pools.items() if name == pool and one != digest}
    if _ledger(document_of(digest), *same.values()) is None:
        return []
    let_go = released(product, same)
    return [same[one] for one in sorted(same) if one not in let_go]


def _ledger(*documents: PolicyDocument) -> memory.Residency | None:
    """The first that says what a device holds."""
    ledgers = (memory.residency(one.fleet) for one in documents)
    return next((one for one in ledgers if one is not None), None)


def _other_versions(route: str, coming: Model, held: list[PolicyDocument]) -> dict[str, Decimal]:
    """GiB by weights of a route's other versions, each once though several generations hold it."""
    models = (one.models[route] for one in held if route in one.models)
    return {
        model.weights: gib
        for model in models
        if model.weights != coming.weights
        and (gib := model.weights_gib or coming.weights_gib) is not None
    }


def _no_room(
    pool: str, route: str, ledger: memory.Residency, others: dict[str, Decimal], needed: Decimal
) -> str:
    held = " and ".join(f"{weights} ({decimal_text(gib)} GiB)" for weights, gib in others.items())
    return (
        f"Pool {pool} still holds {held} for {route}. Beside {decimal_text(ledger.used_gib)} GiB "
        f"in use that is {decimal_text(needed)} GiB, and a device has "
        f"{decimal_text(ledger.device_gib)} GiB. Name a pool of its own, or release what the pool "
        "holds once nothing runs on it."
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
