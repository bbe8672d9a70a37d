"""What comes from where, how far it is counted, and what was refused of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.errors import NotFound
from ingest.models import Batch, RequestRow, Source, SourceTally
from ingest.selectors.backlog import Backlog, backlogs
from ingest.services.tallies import KEPT_MINUTES, minute_of
from ingest.states import EDGE_KINDS, BatchStatus
from policies.models import Product

#: An edge sends at least every 5 s; past this it is silent and no longer holds the watermark.
EDGE_SILENT_AFTER = timedelta(seconds=30)
#: Sources that one page lists: each run of a server is one, so that there may be many in a year.
SHOWN_SOURCES = 200
#: Whole minutes that a rate is taken over.
RATE_MINUTES = KEPT_MINUTES - 2


def watermark(product: Product, now: datetime | None = None) -> datetime | None:
    """The moment up to which every live edge's arrivals are counted; None without a live edge."""
    return earliest(watermarks(product, now or timezone.now()))


def watermarks(product: Product, now: datetime) -> list[tuple[str, datetime | None]]:
    """The live edges, and how far the arrivals of each are counted; None before it told."""
    live = Source.objects.filter(
        product=product, kind__in=EDGE_KINDS, last_seen_at__gte=now - EDGE_SILENT_AFTER
    )
    return list(live.order_by("name", "pk").values_list("name", "watermark"))


def earliest(told: Iterable[tuple[str, datetime | None]]) -> datetime | None:
    """The moment up to which all have told; None where one has not, or nobody is there."""
    reached = [moment for _, moment in told]
    known = [moment for moment in reached if moment is not None]
    return min(known) if known and len(known) == len(reached) else None


def silent_edges(product: Product, since: datetime, now: datetime) -> list[str]:
    """Names of edges heard at or after `since` that have told nothing for too long."""
    return list(
        Source.objects.filter(
            product=product,
            kind__in=EDGE_KINDS,
            last_seen_at__gte=since,
            last_seen_at__lt=now - EDGE_SILENT_AFTER,
        )
        .order_by("name")
        .values_list("name", flat=True)
        .distinct()
    )


@dataclass(frozen=True)
class Refusal:
    """Pieces refused for one reason, and the newest of them as a sample."""

    code: str
    count: int
    where: str
    message: str
    batch: int | None


@dataclass(frozen=True)
class SourceRow:
    """A source, what was stored of it, and what still waits."""

    source: Source
    tally: SourceTally
    backlog: Backlog
    now: datetime = field(default_factory=timezone.now)

    @property
    def anchored(self) -> bool:
        return self.source.anchor_unix_ns is not None

    @property
    def batches(self) -> int:
        return self.tally.batches + self.backlog.waiting + self.set_aside

    @property
    def waiting(self) -> int:
        return self.backlog.waiting + self.backlog.unread

    @property
    def set_aside(self) -> int:
        return self.backlog.set_aside

    @property
    def inserted(self) -> int:
        return self.tally.stored

    @property
    def duplicates(self) -> int:
        return self.tally.repeated

    @property
    def rejected(self) -> int:
        return self.tally.rejected

    @property
    def missing(self) -> int:
        """Records that the sender numbered and that never arrived, over its boots."""
        return self.backlog.missing

    @property
    def per_minute(self) -> float:
        """Stored a minute over the last whole minutes."""
        this = minute_of(self.now)
        wanted = range(this - RATE_MINUTES, this)
        stored: int = sum(self.tally.recent.get(str(minute), 0) for minute in wanted)
        return stored / RATE_MINUTES

    @property
    def watermark_age_s(self) -> float | None:
        reached = self.source.watermark
        return None if reached is None else (self.now - reached).total_seconds()

    @property
    def is_silent(self) -> bool:
        """An edge that told nothing for longer than it ever pauses."""
        seen = self.source.last_seen_at
        is_edge = self.source.kind in EDGE_KINDS
        return is_edge and (seen is None or self.now - seen > EDGE_SILENT_AFTER)

    @property
    def refusals(self) -> list[Refusal]:
        """The most frequent reason first."""
        found = [Refusal(code, **_sample(one)) for code, one in self.tally.reasons.items()]
        return sorted(found, key=lambda one: (-one.count, one.code))


def _sample(reason: dict[str, Any]) -> dict[str, Any]:
    return {name: reason[name] for name in ("count", "where", "message", "batch")}


def sources(product: Product, now: datetime | None = None) -> list[SourceRow]:
    """The sources of the product that were seen last, however many batches they sent."""
    at = now or timezone.now()
    found = (
        Source.objects.filter(product=product)
        .select_related("tally")
        .order_by("-last_seen_at", "-pk")[:SHOWN_SOURCES]
    )
    return list(_rows(product, found, at))


def _rows(product: Product, found: Iterable[Source], now: datetime) -> Iterable[SourceRow]:
    behind = backlogs(product)
    for source in found:
        tally = getattr(source, "tally", None) or SourceTally(source=source)
        yield SourceRow(source, tally, behind.get(source.pk, Backlog()), now)


def engines(product: Product) -> list[Source]:
    """For each kind of engine, real Triton or a stand-in, the source that told of it last."""
    told = Source.objects.filter(product=product).exclude(engine_kind="")
    newest: dict[str, Source] = {}
    for source in told.order_by("-last_seen_at", "-pk"):
        newest.setdefault(source.engine_kind, source)
    return list(newest.values())


def source_of(product: Product, source_pk: int) -> Source:
    """One source of the product; raises NotFound."""
    source = Source.objects.filter(product=product, pk=source_pk).first()
    if source is None:
        raise NotFound("not_found", "This product has no such source.")
    return source


def batches(product: Product, source_pk: int | None = None) -> QuerySet[Batch]:
    """Batches without their bodies; page them newest first by (received_at, id)."""
    found = Batch.objects.filter(product=product).defer("body").select_related("source")
    return found if source_pk is None else found.filter(source_id=source_pk)


def set_aside(product: Product, limit: int = 10) -> list[Batch]:
    """The newest batches that wait for somebody to try them again."""
    return list(batches(product).filter(status=BatchStatus.SET_ASIDE).order_by("-pk")[:limit])


def batch_of(product: Product, **lookup: Any) -> Batch:
    """One batch of the product; raises NotFound."""
    batch = batches(product).filter(**lookup).first()
    if batch is None:
        raise NotFound("not_found", "This product has no such batch.")
    return batch


def requests(product: Product) -> QuerySet[RequestRow]:
    """The requests of a product; page them newest first by (arrived_at, id)."""
    return RequestRow.objects.filter(product_id=product.pk)
