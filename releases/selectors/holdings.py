"""What each edge holds of each generation, by its last word, and whether that word counts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.models import Product
from releases.models import Edge, Publication
from releases.selectors.edges import is_silent
from releases.selectors.told import is_told, told_since


@dataclass(frozen=True)
class Holding:
    """What one edge said that it holds of one generation, as of `at`.

    `sequences` is its last word, of `reported_at`; `stale` when that is too long ago to count.
    """

    edge: str
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


def holdings(product: Product, digests: set[str], now: datetime) -> dict[str, list[Holding]]:
    """By digest, what each edge in service holds of it."""
    edges = list(Edge.objects.filter(product=product, retired_at=None).select_related("seen"))
    served, counts_from = _served(product, edges), told_since(now)
    return {
        digest: [_holding(edge, digest, served, now, counts_from) for edge in edges]
        for digest in digests
    }


def digests_heard(product: Product) -> set[str]:
    edges = Edge.objects.filter(product=product, retired_at=None, seen__isnull=False)
    reports = edges.values_list("seen__open_sequences", flat=True)
    return {digest for report in reports for digest, count in report.items() if count}


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
        sequences=int(seen.open_sequences.get(digest, 0)) if seen else 0,
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
