"""OTLP spans to rows, while their sender waits.

Decoded in the request, because OTLP's partial success is part of its answer: the sender hears 200
only when the spans are stored. What they mean is worked out by a worker, from a row that names the
traces they belong to.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from psycopg import errors

from controlplane.errors import TooMany, retry_after
from ingest import tasks
from ingest.models import Source, TouchedTraces
from ingest.services import SourceKey, span_rows, tallies
from ingest.services.stored import RejectedPiece
from orchid.formats.otlp import Packed
from orchid.formats.reading import Lost, Reading
from policies.models import Product

logger = logging.getLogger(__name__)

#: Rejected spans of one body that are looked at for the source's reasons; the count has all.
NAMED = 200


def store_spans(
    product: Product, key: SourceKey, reading: Reading[Packed], now: datetime | None = None
) -> int:
    """Store the spans of one body in one transaction; how many are new.

    A span that comes again changes nothing. Raises TooMany when too many bodies of this sender
    wait for their attempts.
    """
    at = now or timezone.now()
    source, _ = Source.objects.get_or_create(
        product=product, kind=key.kind, name=key.name, server_run=key.server_run
    )
    _refuse_when_behind(source)
    try:
        return _store(source, reading, at, span_rows.store)
    except errors.UniqueViolation:
        pass  # the exception: a sender that did not hear its answer sends again
    except errors.CheckViolation:
        # Days are made ahead; a span of another day has to wait for its own.
        span_rows.ensure_days(span_rows.days_of(reading.records, at))
    return _store(source, reading, at, span_rows.store_again)


@transaction.atomic
def _store(
    source: Source,
    reading: Reading[Packed],
    at: datetime,
    store: Callable[[int, Sequence[Packed], datetime], int],
) -> int:
    new = store(source.pk, reading.records, at)
    if new:
        _touch(source, reading.records)
    Source.objects.filter(pk=source.pk).update(last_seen_at=at)
    tallies.add(source.pk, _tally(reading, new), at)
    return new


def _refuse_when_behind(source: Source) -> None:
    most = settings.INBOX.product_batches
    if TouchedTraces.objects.filter(source=source)[most:].exists():
        raise TooMany(
            "inbox_full",
            f"Spans of {most} bodies wait to be read; send these again after Retry-After.",
            headers=retry_after(3, 10),
        )


def _touch(source: Source, spans: list[Packed]) -> None:
    """Name the traces for a worker. The row is the truth: a lost task is swept up later."""
    traces = b"".join({span.trace_id for span in spans})
    TouchedTraces.objects.create(source=source, trace_ids=traces)
    transaction.on_commit(lambda: _enqueue(source.pk))


def _enqueue(source_pk: int) -> None:
    try:
        tasks.derive_attempts.delay(source_pk)
    except Exception:
        # The spans are stored and the sender must hear so: the sweep finds them within seconds.
        logger.exception("spans of source %s are stored but their task was not sent", source_pk)


def _tally(reading: Reading[Packed], new: int) -> tallies.Tally:
    return tallies.Tally(
        stored=new,
        repeated=len(reading.records) - new,
        rejected=len(reading.lost),
        dropped_text=reading.dropped_text,
        pieces=[_piece(lost) for lost in islice(reading.lost, NAMED)],
        batches=1,
    )


def _piece(lost: Lost) -> RejectedPiece:
    """A body has no lines, and its bytes are packed: a span is named by its place among them."""
    message = f"span {lost.offset + 1} of its body: {lost.reason}"
    return RejectedPiece(code="span_rejected", message=message)
