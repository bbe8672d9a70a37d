"""What each edge holds of each generation, by its last word, and whether that word counts."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from policies.models import Product
from releases.models import Edge, Publication
from releases.selectors.edges import is_silent
from releases.selectors.told import is_told, told_since
from releases.services.issue import latest


@dataclass(frozen=True)
class Holding:
    """What one edge said that it holds of one generation, as of `at`.

    `sequences` is its last word, of `reported_at`; `stale` when that is too long ago to count.
    """

    edge: str
    digest: str
    sequences: int
    manifests: dict[str, int]
    silent: bool
    stale: bool
    admits: bool
    told: bool
    last_seen: datetime | None
    reported_at: datetime | None
    at: datetime

    @property
    def is_known(self) -> bool:
        """Whether its number can be believed: it is heard, and has told of late what it holds."""
        return self.told and not self.silent and not self.stale

    @property
    def is_zero(self) -> bool:
        """Known to hold none, and to begin none.

        A silent edge is not known to, nor one that fetches what is published while what it tells
        of itself doesn't come through.
        """
        return self.sequences == 0 and self.is_known and not self.admits

    @property
    def words(self) -> str:
        """Why this edge keeps the ledger open."""
        if self.silent:
            return f"{self.edge} is silent, and last said {self.sequences}"
        if not self.told or self.reported_at is None:
            return f"{self.edge} has never told what it runs"
        if self.stale:
            ago = _in_words(self.at - self.reported_at)
            return f"{self.edge} last told its sequences {ago} ago, and said {self.sequences}"
        if self.sequences:
            return f"{self.edge} holds {self.sequences}"
        return f"{self.edge} still decides requests under it"


@dataclass(frozen=True)
class LeftOpen:
    """What would be lost sight of with an edge, by digest: None is an unknown number."""

    sequences: dict[str, int | None]
    words: str


@dataclass(frozen=True)
class Abandoned:
    """What an edge that was retired may have held of one generation; None is an unknown number."""

    edge: str
    sequences: int | None
    retired_at: datetime


def holdings(product: Product, digests: set[str], now: datetime) -> dict[str, list[Holding]]:
    """By digest, what each edge in service holds of it."""
    edges = list(Edge.objects.filter(product=product, retired_at=None).select_related("seen"))
    return _held(product, edges, digests, now)


def left_open(edge: Edge, now: datetime) -> LeftOpen | None:
    """What an edge holds, or may hold as far as anybody knows; None when that is known to be none.

    It may hold whatever is named to it; that it would begin more is nothing that it holds.
    """
    newest = latest(edge.product)
    named = set(newest.pools if newest else ()) | _counts(edge).keys()
    held = [one for [one] in _held(edge.product, [edge], named, now).values()]
    left = {one.digest: one.sequences if one.is_known else None for one in held}
    left = {digest: number for digest, number in left.items() if number != 0}
    if not left:
        return None
    whole = replace(held[0], sequences=sum(_counts(edge).values()))
    return LeftOpen(left, whole.words)


def abandoned(product: Product, digests: Collection[str]) -> dict[str, list[Abandoned]]:
    """By digest, what edges left open when they were retired: nobody will tell of its end."""
    found: dict[str, list[Abandoned]] = {}
    for edge in Edge.objects.filter(product=product, retired_at__isnull=False):
        assert edge.retired_at is not None, "only those are asked for"
        for digest in edge.abandoned.keys() & set(digests):
            one = Abandoned(edge.name, edge.abandoned[digest], edge.retired_at)
            found.setdefault(digest, []).append(one)
    return found


def digests_heard(product: Product) -> set[str]:
    edges = Edge.objects.filter(product=product, retired_at=None, seen__isnull=False)
    reports = edges.values_list("seen__open_sequences", flat=True)
    return {digest for report in reports for digest, count in report.items() if count}


def _held(
    product: Product, edges: list[Edge], digests: Collection[str], now: datetime
) -> dict[str, list[Holding]]:
    served, counts_from = _served(product, edges), told_since(now)
    return {
        digest: [_holding(edge, digest, served, now, counts_from) for edge in edges]
        for digest in digests
    }


def _counts(edge: Edge) -> dict[str, int]:
    """Its last word, by digest, where that was more than none."""
    seen = getattr(edge, "seen", None)
    said = seen.open_sequences if seen else {}
    return {digest: int(count) for digest, count in said.items() if count}


def _holding(
    edge: Edge,
    digest: str,
    served: dict[int, tuple[str, ...]],
    now: datetime,
    counts_from: datetime,
) -> Holding:
    seen = getattr(edge, "seen", None)
    runs = seen.active_publication if seen else None
    manifests = (seen.open_manifests if seen else {}).get(digest, {})
    return Holding(
        edge=edge.name,
        digest=digest,
        sequences=_counts(edge).get(digest, 0),
        manifests={name: int(count) for name, count in manifests.items()},
        silent=is_silent(edge, now),
        stale=not is_told(edge, counts_from),
        admits=runs is not None and digest in served.get(runs, ()),
        told=runs is not None,
        last_seen=seen.at if seen else None,
        reported_at=seen.reported_at if seen else None,
        at=now,
    )


def _in_words(passed: timedelta) -> str:
    minutes = int(passed.total_seconds() // 60)
    return f"{minutes} minutes" if minutes > 1 else f"{int(passed.total_seconds())} seconds"


def _served(product: Product, edges: list[Edge]) -> dict[int, tuple[str, ...]]:
    """By number, what the publications that edges run decide requests under."""
    said = [edge.seen.active_publication for edge in edges if hasattr(edge, "seen")]
    running = {number for number in said if number is not None}
    rows = Publication.objects.filter(product=product, number__in=running)
    return {row.number: row.served for row in rows.defer("token")}
