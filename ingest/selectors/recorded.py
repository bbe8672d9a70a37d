"""Stored requests as the records that they came as, for whoever decides them once more."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q, QuerySet

from ingest.models import RequestRow
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord
from policies.models import Product

#: Rows fetched at a time: a few megabytes, however many there are.
CHUNK = 2_000
COLUMNS = (
    "request_id",
    "arrived_at",
    "outcome",
    "class_name",
    "publication",
    "digest",
    "cohort",
    "tenant",
    "tenant_class",
    "dims",
    "deadline_ms",
    "admission_ms",
    "first_token_ms",
    "completion_ms",
    "input_tokens",
    "max_output_tokens",
    "output_tokens",
    "decision",
    "attempts",
)


def recorded_requests(product: Product, *, until: datetime, limit: int) -> Iterator[RequestRecord]:
    """The newest `limit` requests that arrived up to `until`, oldest first, streamed."""
    newest = RequestRow.objects.filter(product_id=product.pk, arrived_at__lte=until)
    since = _oldest_of(newest, limit)
    rows = newest.filter(since).order_by("arrived_at", "id").values_list(*COLUMNS)
    for row in rows.iterator(chunk_size=CHUNK):
        yield _record(product.slug, dict(zip(COLUMNS, row, strict=True)))


def _oldest_of(newest: QuerySet[RequestRow], limit: int) -> Q:
    """From the `limit`-th newest on; everything where there are fewer."""
    places = newest.order_by("-arrived_at", "-id").values_list("day", "arrived_at", "id")
    last = next(iter(places[limit - 1 : limit]), None)
    if last is None:
        return Q()
    day, arrived_at, row_id = last
    same = Q(arrived_at=arrived_at, id__gte=row_id)
    return Q(day__gte=day) & (Q(arrived_at__gt=arrived_at) | same)


def _record(slug: str, row: dict[str, Any]) -> RequestRecord:
    decision, attempts = row.pop("decision"), row.pop("attempts")
    return RequestRecord(
        product=slug,
        class_=row.pop("class_name"),
        tenant=row.pop("tenant") or None,
        tenant_class=row.pop("tenant_class") or None,
        segment=row.pop("dims"),
        decision=None if decision is None else msgspec.convert(decision, DecisionRecord),
        attempts=msgspec.convert(attempts, tuple[AttemptRecord, ...]),
        **row,
    )
