"""What is stored and not counted, by source, and what never arrived."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Max, Min, Sum
from django.db.models.functions import Coalesce, Greatest

from ingest.models import Batch, SourceBoot, TouchedTraces
from ingest.states import BatchStatus
from policies.models import Product

_NUMBERED = F("last_seq") - F("first_seq") + 1


@dataclass(frozen=True)
class Backlog:
    """Deliveries of one source that are not counted, and records that never arrived.

    `unread` are bodies of spans that are counted, and whose attempts are not worked out yet.
    """

    waiting: int = 0
    set_aside: int = 0
    missing: int = 0
    unread: int = 0


@dataclass(frozen=True)
class InboxState:
    """How full the inbox of a product is against the bounds past which senders must wait.

    `held_bytes` are of what waits and of what is set aside.
    """

    waiting: int
    bound: int
    oldest_at: datetime | None
    set_aside: int
    held_bytes: int
    bytes_bound: int

    @property
    def full(self) -> bool:
        return self.waiting >= self.bound or self.held_bytes >= self.bytes_bound


def inbox_state(product: Product) -> InboxState:
    """Counts over the two partial indexes of what is not counted; never over the whole inbox."""
    mine = Batch.objects.filter(product=product)
    waiting = mine.filter(status=BatchStatus.RECEIVED).aggregate(
        count=Count("pk"), oldest=Min("received_at"), size=Coalesce(Sum("size"), 0)
    )
    aside = mine.filter(status=BatchStatus.SET_ASIDE).aggregate(
        count=Count("pk"), size=Coalesce(Sum("size"), 0)
    )
    return InboxState(
        waiting["count"],
        settings.INBOX.product_batches,
        waiting["oldest"],
        aside["count"],
        waiting["size"] + aside["size"],
        settings.INBOX.product_bytes,
    )


def backlogs(product: Product) -> dict[int, Backlog]:
    """By source; a source with nothing outstanding may be left out."""
    by_boot = _outstanding(product)
    missing = _missing_counted(product)
    for (source, boot), parts in by_boot.items():
        missing[source] += _correction(source, boot, parts)
    waiting = _summed(by_boot, BatchStatus.RECEIVED)
    aside = _summed(by_boot, BatchStatus.SET_ASIDE)
    unread = _unread_bodies(product)
    return {
        source: Backlog(waiting[source], aside[source], max(0, missing[source]), unread[source])
        for source in {*missing, *waiting, *aside, *unread}
    }


Parts = dict[str, dict[str, Any]]


def _outstanding(product: Product) -> dict[tuple[int, str], Parts]:
    """By source and boot: what waits and what is set aside."""
    found: dict[tuple[int, str], Parts] = defaultdict(dict)
    for status in (BatchStatus.RECEIVED, BatchStatus.SET_ASIDE):
        rows = Batch.objects.filter(product=product, status=status)
        counts = rows.values("source_id", "boot_id").annotate(
            count=Count("pk"),
            first=Min("first_seq"),
            last=Max("last_seq"),
            arrived=Coalesce(Sum(_NUMBERED), 0),
        )
        for row in counts:
            found[row["source_id"], row["boot_id"]][status] = dict(row)
    return found


def _summed(by_boot: dict[tuple[int, str], Parts], status: BatchStatus) -> dict[int, int]:
    counts: dict[int, int] = defaultdict(int)
    for (source, _), parts in by_boot.items():
        counts[source] += parts[status]["count"] if status in parts else 0
    return counts


def _unread_bodies(product: Product) -> dict[int, int]:
    rows = TouchedTraces.objects.filter(source__product=product).values("source_id")
    bodies: dict[int, int] = defaultdict(int)
    bodies.update(rows.annotate(bodies=Count("pk")).values_list("source_id", "bodies"))
    return bodies


def _missing_counted(product: Product) -> dict[int, int]:
    """By source, numbers of counted boots that no counted batch holds."""
    lacking = Greatest(_NUMBERED - F("arrived"), 0)
    rows = SourceBoot.objects.filter(source__product=product).values("source_id")
    missing: dict[int, int] = defaultdict(int)
    missing.update(rows.annotate(missing=Sum(lacking)).values_list("source_id", "missing"))
    return missing


def _correction(source: int, boot: str, parts: Parts) -> int:
    """What batches that are not counted yet add to the missing numbers of their boot, or take."""
    counted = SourceBoot.objects.filter(source_id=source, boot_id=boot).first()
    rows = [part for part in parts.values() if part["first"] is not None]
    before = _lacking([counted]) if counted else 0
    return _lacking([counted, *rows] if counted else rows) - before


def _lacking(rows: list[Any]) -> int:
    if not rows:
        return 0
    held = [_bounds(row) for row in rows]
    numbered = max(last for _, last, _ in held) - min(first for first, _, _ in held) + 1
    return max(0, numbered - sum(arrived for _, _, arrived in held))


def _bounds(row: Any) -> tuple[int, int, int]:
    if isinstance(row, SourceBoot):
        return row.first_seq, row.last_seq, row.arrived
    return row["first"], row["last"], row["arrived"]
