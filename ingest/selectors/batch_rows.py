"""Request rows batch by batch, for whoever reads each of them once as they come in."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Max, QuerySet, Sum
from django.db.models.functions import Coalesce, Mod

from ingest.models import Batch, EngineAttempt, RequestRow
from ingest.services.request_rows import MOST_IN_A_BATCH
from ingest.states import BatchStatus, SourceKind
from orchid.engine.calibration.observed import Finished, read_attempts, read_decision
from policies.models import Product

#: A batch that was numbered before a later one may show after it, and what an engine tells of an
#: attempt may come after the gateway's record: both by less than this.
SETTLED = timedelta(seconds=60)
#: After so long a batch that was never counted is left behind.
GIVEN_UP = timedelta(days=1)
#: Requests that arrived longer before their batch are left out: their day may be gone.
LATE = timedelta(days=7)


def unread_batches(
    product: Product, through: int, ahead: Sequence[int], now: datetime, limit: int
) -> list[Batch]:
    """Counted batches of request records that are settled and not read yet, the oldest first."""
    settled = _batches(product, through).filter(received_at__lte=now - SETTLED)
    found = settled.filter(status=BatchStatus.DONE).exclude(pk__in=ahead)
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


def rows_of_batch(batch: Batch, most: int) -> list[tuple[RequestRow, Finished]]:
    """Up to about `most` rows in the order of arrival: every k-th where there are more.

    Accelerator times that a record lacks are those that engines told of its attempts.
    """
    rows = list(_rows(batch, most).order_by("arrived_at", "id"))
    found = [(row, _finished(row)) for row in rows]
    silent = {
        attempt_id: tried
        for row, request in found
        for attempt_id, tried in zip(row.attempt_ids, request.attempts, strict=True)
        if tried.work_ms is None
    }
    for attempt_id, ms in _engine_ms(batch.product, silent).items():
        silent[attempt_id].accelerator_ms = ms
    return found


def _rows(batch: Batch, most: int) -> QuerySet[RequestRow]:
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
    return rows


def _engine_ms(product: Product, attempt_ids: Iterable[str]) -> dict[str, float]:
    """Milliseconds of inference by attempt; of a composite model those of what it called."""
    told = EngineAttempt.objects.filter(
        product=product, attempt_id__in=list(attempt_ids), composite=False
    )
    spent = told.annotate(ms=Coalesce("infer_ms", "compute_ms")).filter(ms__gt=0)
    sums = spent.values_list("attempt_id").annotate(total=Sum("ms"))
    return dict(sums.values_list("attempt_id", "total"))


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
