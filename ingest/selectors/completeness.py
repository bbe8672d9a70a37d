"""What may be missing from the figures of a window: facts that a verdict rests on.

A delivery holds only requests that arrived before it was received, and none that arrived before
the watermark of the delivery before it. So what is not counted concerns some windows and not all.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from ingest.models import SourceBoot
from ingest.selectors.sources import silent_edges, watermark
from policies.models import Product

#: A delivery may come so long after the one before it and still show that one between is lacking.
_BEFORE = timedelta(minutes=10)


@dataclass(frozen=True)
class Completeness:
    """Of one product and window; `missing` are records by edge that were numbered and never came.

    `waiting` and `set_aside` are deliveries of edges that may hold arrivals of the window,
    `silent` the edges heard in it that have stopped telling anything.
    """

    watermark: datetime | None
    missing: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    set_aside: int = 0
    silent: tuple[str, ...] = ()

    @property
    def uncounted(self) -> tuple[str, ...]:
        """What is lacking for good or until somebody acts, in words."""
        facts = [
            f"records of {edge} that never came: {count}" for edge, count in self.missing.items()
        ]
        if self.waiting:
            facts.append(f"deliveries not yet counted: {self.waiting}")
        if self.set_aside:
            facts.append(f"deliveries set aside: {self.set_aside}")
        return tuple(facts)


def completeness(
    product: Product, start: datetime, end: datetime, now: datetime | None = None
) -> Completeness:
    """What may be missing of start <= arrival < end."""
    at = now or timezone.now()
    uncounted = _uncounted(product, start, end)
    return Completeness(
        watermark=watermark(product, at),
        missing=_missing(product, start, end),
        waiting=uncounted.get("received", 0),
        set_aside=uncounted.get("set_aside", 0),
        silent=tuple(silent_edges(product, start, at)),
    )


def _uncounted(product: Product, start: datetime, end: datetime) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(_UNCOUNTED, {"product": product.pk, "start": start, "end": end})
        return dict(cursor.fetchall())


def _missing(product: Product, start: datetime, end: datetime) -> dict[str, int]:
    """By edge. Only senders whose numbers have holes are looked at by delivery."""
    lacking = SourceBoot.objects.filter(source__product=product)
    holes = lacking.filter(last_seq__gte=F("first_seq") + F("arrived")).values_list("source_id")
    sources = [pk for (pk,) in holes.distinct()]
    if not sources:
        return {}
    values: dict[str, Any] = {
        "sources": sources,
        "start": start,
        "end": end,
        "since": start - _BEFORE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, values)
        return {name: int(count) for name, count in cursor.fetchall()}


_UNCOUNTED = """
SELECT batch.status, count(*)
FROM ingest_batch batch
WHERE batch.product_id = %(product)s AND batch.status IN ('received', 'set_aside')
    AND batch.kind IN ('edge', 'rollup') AND batch.received_at >= %(start)s
    AND coalesce((
        SELECT earlier.watermark FROM ingest_batch earlier
        WHERE earlier.source_id = batch.source_id AND earlier.id < batch.id
            AND earlier.kind = batch.kind AND earlier.watermark IS NOT NULL
        ORDER BY earlier.id DESC LIMIT 1
    ) < %(end)s, true)
GROUP BY batch.status
"""
_MISSING = """
SELECT source.name, sum(numbered.first_seq - numbered.reached - 1)
FROM (
    SELECT source_id, first_seq, received_at, max(last_seq) OVER earlier AS reached,
           max(watermark) OVER earlier AS told
    FROM ingest_batch
    WHERE source_id = ANY(%(sources)s) AND first_seq IS NOT NULL AND received_at >= %(since)s
    WINDOW earlier AS (
        PARTITION BY source_id, kind, boot_id ORDER BY first_seq, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
) numbered JOIN ingest_source source ON source.id = numbered.source_id
WHERE numbered.first_seq > numbered.reached + 1 AND numbered.received_at >= %(start)s
    AND coalesce(numbered.told < %(end)s, true)
GROUP BY source.name ORDER BY source.name
"""
