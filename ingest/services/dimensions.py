"""How many values a dimension keeps under their own names, and what becomes of the others.

A sender may put anything into a dimension, and each combination of values is a rollup of its own.
So each dimension of a product keeps its first values, up to a bound, and counts the rest together
as `other`. A first sight is a row: every worker reads the same ones, and a lock lets one worker at
a time add to them. Values that a document of the product names are kept beyond any bound. Tenants
come like other values and give way to tenants with more traffic (`tenants.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.conf import settings
from django.db import connection

from ingest.models import DimensionValue
from orchid.engine.document.named import Named, named_values
from policies.models import Product, Revision
from policies.selectors import document_of

OTHER = "other"
TENANT, ROUTE, MANIFEST = "tenant", "route", "manifest"
#: Parts of a request that are no dimension of its segment and are capped alike.
PARTS = (TENANT, ROUTE, MANIFEST)
_SEGMENTS_LOCK, _SERVED_LOCK = 0x0C1D_0002, 0x0C1D_0003

Dims = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Capped:
    """What the values of a product's dimensions are counted under."""

    kept: frozenset[Named]
    _known: dict[Dims, Dims] = field(default_factory=dict)

    def dims_of(self, segment: Mapping[str, str]) -> Dims:
        """The segment, sorted by dimension, with `other` for each value that is not kept."""
        given = tuple(segment.items())
        if given not in self._known:
            self._known[given] = tuple(sorted((name, self.value_of(name, v)) for name, v in given))
        return self._known[given]

    def tenant_of(self, tenant: str) -> str:
        """The tenant, or `other`; nobody stays nobody."""
        return self.value_of(TENANT, tenant)

    def value_of(self, dimension: str, value: str) -> str:
        """The value of one dimension, or `other`."""
        return value if not value or (dimension, value) in self.kept else OTHER


def capped(
    product: Product, segments: Iterable[Mapping[str, str]], tenants: Iterable[str] = ()
) -> Capped:
    """Learn what is seen for the first time, then say what each value is counted under.

    Call it before any row of a request is locked: a worker that adds a value holds the others off
    until its transaction ends.
    """
    seen = {pair for segment in segments for pair in segment.items()}
    seen |= {(TENANT, tenant) for tenant in tenants}
    return Capped(_kept(product, seen, _SEGMENTS_LOCK))


def capped_served(product: Product, served: Iterable[tuple[str, str]]) -> Capped:
    """The same for (route, manifest) of what was served; after the requests' rows, not before."""
    seen = {pair for route, digest in served for pair in ((ROUTE, route), (MANIFEST, digest))}
    return Capped(_kept(product, seen, _SERVED_LOCK))


def most_of(dimension: str) -> int:
    """How many values the dimension keeps."""
    bound: int = settings.INGEST.tenants if dimension == TENANT else settings.INGEST.values
    return bound


def named_by_documents(product: Product) -> frozenset[Named]:
    """What the newest revision of any generation of the product names."""
    newest = Revision.objects.filter(generation__product=product)
    newest = newest.order_by("generation", "-number").distinct("generation")
    return _named(tuple(newest.values_list("digest", flat=True)))


@lru_cache(maxsize=64)
def _named(digests: tuple[str, ...]) -> frozenset[Named]:
    return frozenset().union(*(_named_by(digest) for digest in digests))


@lru_cache(maxsize=1024)
def _named_by(digest: str) -> frozenset[Named]:
    return named_values(document_of(digest))


def _kept(product: Product, seen: set[Named], lock: int) -> frozenset[Named]:
    free = named_by_documents(product)
    stored = _stored(product)
    new = {pair for pair in seen - free - stored if pair[1] not in ("", OTHER)}
    if _with_room(new, stored):
        _lock(product, lock)
        stored = _stored(product)
        stored |= _add(product, _with_room(new - stored, stored))
    return free | stored


def hold_values(product: Product) -> None:
    """Let nobody else change the values of dimensions until the transaction ends."""
    _lock(product, _SEGMENTS_LOCK)


def _lock(product: Product, lock: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [lock, product.pk % 2**31])


def _stored(product: Product) -> set[Named]:
    rows = DimensionValue.objects.filter(product=product)
    return set(rows.values_list("dimension", "value"))


def _with_room(new: set[Named], stored: set[Named]) -> set[Named]:
    """Those of the new values that their dimension still has room for."""
    left: dict[str, int] = {}
    chosen = set()
    for dimension, value in sorted(new):
        if dimension not in left:
            left[dimension] = most_of(dimension) - sum(name == dimension for name, _ in stored)
        if left[dimension] > 0:
            left[dimension] -= 1
            chosen.add((dimension, value))
    return chosen


def _add(product: Product, pairs: set[Named]) -> set[Named]:
    DimensionValue.objects.bulk_create(
        DimensionValue(product=product, dimension=dimension, value=value)
        for dimension, value in sorted(pairs)
    )
    return pairs
