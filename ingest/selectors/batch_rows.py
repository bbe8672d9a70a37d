"""Request rows batch by batch, for whoever reads each of them once as they come in."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Max, QuerySet
from django.db.models.functions import Mod

from ingest.models import Batch, RequestRow
from ingest.services.request_rows import MOST_IN_A_BATCH
from ingest.states import BatchStatus, SourceKind
from orchid.engine.calibration.observed import Finished, read_attempts, read_decision
from policies.models import Product

#: A batch that was numbered before a later one may show after it, by less than this.
SETTLED = timedelta(seconds=60)
#: After so long a batch that was never counted is left behind.
GIVEN_UP = timedelta(days=1)
#: Requests that arrived longer before their batch are left out: their day may be gone.
LATE = timedelta(days=7)


def unread_batches(product: Product, through: int, ahead: Sequence[int], limit: int) -> list[Batch]:
    """Counted batches of request records that are not read yet, the oldest first."""
    found = _batches(product, through).filter(status=BatchStatus.DONE).exclude(pk__in=ahead)
    return list(found.defer("body").order_by("pk")[:limit])


def settled_through(product: Product, through: int, ahead: Sequence[int], now: datetime) -> int:
    """Up to which batch nothing will be found any more that is not read by now."""
    open_ = _batches(product, through).exclude(pk__in=ahead)
    open_ = open_.filter(received_at__gt=now - GIVEN_UP) | open_.filter(status=BatchStatus.DONE)
    first = open_.order_by("pk").values_list("pk", flat=True).first()
    settled = _batches(product, through).filter(received_at__lte=now - SETTLED)
    last: int | None = settled.aggregate(last=Max("pk"))["last"]
    if last is None:
        return through
    return max(through, last if first is None else min(last, first - 1))


def rows_of_batch(batch: Batch, most: int) -> Iterator[tuple[RequestRow, Finished]]:
    """Up to about `most` rows in the order of arrival: every k-th where there are more."""
    first, since = batch.pk * MOST_IN_A_BATCH, batch.received_at - LATE
    rows = RequestRow.objects.filter(
        product_id=batch.product_id,
        day__gte=since.date(),
        id__gte=first,
        id__lt=first + MOST_IN_A_BATCH,
    )
    stride = -(-int(batch.counts.get("inserted", 0)) // most)
    if stride > 1:
        rows = rows.alias(turn=Mod(F("id"), stride)).filter(turn=batch.pk % stride)
    for row in rows.order_by("arrived_at", "id").iterator(chunk_size=1000):
        yield row, _finished(row)


def _batches(product: Product, through: int) -> QuerySet[Batch]:
    return Batch.objects.filter(product=product, kind=SourceKind.EDGE, pk__gt=through)


def _finished(row: RequestRow) -> Finished:
    return Finished(
        class_name=row.class_name,
        tenant=row.tenant,
        outcome=row.outcome,
        input_tokens=row.input_tokens,
        cached_input_tokens=row.cached_input_tokens,
        max_output_tokens=row.max_output_tokens,
        output_tokens=row.output_tokens,
        deadline_ms=row.deadline_ms,
        completion_ms=row.completion_ms,
        decision=read_decision(row.decision_text),
        attempts=read_attempts(row.attempts_text),
    )
