"""What comes from where, and how far it is counted."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet
from django.utils import timezone

from controlplane.errors import NotFound
from ingest.models import Batch, CounterSample, EngineSpan, RequestRow, Source
from ingest.states import SourceKind
from policies.models import Product

#: An edge sends at least every 5 s; past this it is silent and no longer holds the watermark.
EDGE_SILENT_AFTER = timedelta(seconds=30)


def watermark(product: Product, now: datetime | None = None) -> datetime | None:
    """The moment up to which every live edge's arrivals are counted; None without a live edge."""
    since = (now or timezone.now()) - EDGE_SILENT_AFTER
    live = Source.objects.filter(
        product=product, kind=SourceKind.EDGE, last_seen_at__gte=since
    ).values_list("watermark", flat=True)
    reached = list(live)
    if not reached or None in reached:
        return None
    return min(moment for moment in reached if moment is not None)


def silent_edges(product: Product, since: datetime, now: datetime) -> list[str]:
    """Names of edges heard at or after `since` that have told nothing for too long."""
    return list(
        Source.objects.filter(
            product=product,
            kind=SourceKind.EDGE,
            last_seen_at__gte=since,
            last_seen_at__lt=now - EDGE_SILENT_AFTER,
        )
        .order_by("name")
        .values_list("name", flat=True)
    )


@dataclass(frozen=True)
class SourceRow:
    """A source and what its batches came to.

    `missing` counts records that the sender numbered and that never arrived, over its boots.
    """

    source: Source
    batches: int
    waiting: int
    set_aside: int
    inserted: int
    duplicates: int
    rejected: int
    missing: int

    @property
    def anchored(self) -> bool:
        return self.source.anchor_unix_ns is not None


_BY_SOURCE = """
SELECT source_id,
       sum(batches), sum(waiting), sum(set_aside), sum(inserted), sum(duplicates), sum(rejected),
       sum(greatest(coalesce(numbered - arrived, 0), 0))
FROM (
    SELECT source_id, boot_id,
           count(*) AS batches,
           count(*) FILTER (WHERE status = 'received') AS waiting,
           count(*) FILTER (WHERE status = 'set_aside') AS set_aside,
           coalesce(sum((counts->>'inserted')::bigint), 0) AS inserted,
           coalesce(sum((counts->>'duplicates')::bigint), 0) AS duplicates,
           coalesce(sum((counts->>'rejected')::bigint), 0) AS rejected,
           max(last_seq) - min(first_seq) + 1 AS numbered,
           sum(last_seq - first_seq + 1) AS arrived
    FROM ingest_batch WHERE product_id = %s GROUP BY source_id, boot_id
) AS by_boot GROUP BY source_id
"""


def sources(product: Product) -> list[SourceRow]:
    """Every source of the product, the one seen last at the top."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_SOURCE, [product.pk])
        counts = {row[0]: [int(value) for value in row[1:]] for row in cursor.fetchall()}
    found = Source.objects.filter(product=product).order_by("-last_seen_at", "-pk")
    rows = [SourceRow(source, *counts.get(source.pk, [0] * 7)) for source in found]
    beside = _stored_beside_batches(product)
    return [replace(row, inserted=row.inserted + beside[row.source.pk]) for row in rows]


def _stored_beside_batches(product: Product) -> Counter[int]:
    """By source, what no batch counts: spans come without one, samples are no records."""
    stored: Counter[int] = Counter()
    for model in (EngineSpan, CounterSample):
        by_source = model.objects.filter(source__product=product).values_list("source_id")
        stored.update(dict(by_source.annotate(Count("pk"))))
    return stored


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


def batch_of(product: Product, **lookup: Any) -> Batch:
    """One batch of the product; raises NotFound."""
    batch = batches(product).filter(**lookup).first()
    if batch is None:
        raise NotFound("not_found", "This product has no such batch.")
    return batch


def requests(product: Product) -> QuerySet[RequestRow]:
    """The requests of a product; page them newest first by (arrived_at, id)."""
    return RequestRow.objects.filter(product_id=product.pk)
