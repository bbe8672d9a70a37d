"""OTLP spans to rows, while their sender waits.

Decoded in the request, because OTLP's partial success is part of its answer: the sender hears 200
only when the spans are stored. What they mean is worked out by a worker, from a row that names the
traces they belong to.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from psycopg import errors

from controlplane.errors import TooMany, retry_after
from ingest import tasks
from ingest.models import Source
from ingest.services import SourceKey, span_rows, tallies
from ingest.services.stored import RejectedPiece
from orchid.formats.otlp import Packed
from orchid.formats.reading import Lost, Reading
from policies.models import Product

logger = logging.getLogger(__name__)

#: Rejected spans of one body that are looked at for the source's reasons; the count has all.
NAMED = 200
#: Seconds between two tasks that one process sends for one source.
AT_MOST_EACH_S = 0.5

#: When the last task of a source was sent, by this process's monotonic clock.
_enqueued: dict[int, float] = {}

# Written out, and one round trip each: the sender waits, and the ORM costs more than the spans do.
_KNOWN = """
SELECT source.id,
       EXISTS (SELECT FROM ingest_touchedtraces WHERE source_id = source.id) AS waits,
       EXISTS (SELECT FROM ingest_touchedtraces WHERE source_id = source.id OFFSET %s) AS is_behind
FROM ingest_source source WHERE product_id = %s AND kind = %s AND name = %s AND server_run = %s
"""
_SEEN = "UPDATE ingest_source SET last_seen_at = %s WHERE id = %s"
_TOUCHED = """
INSERT INTO ingest_touchedtraces (source_id, trace_ids, received_at) VALUES (%s, %s, %s)
"""


def store_spans(
    product: Product, key: SourceKey, reading: Reading[Packed], now: datetime | None = None
) -> int:
    """Store the spans of one body in one transaction; how many are new.

    A span that comes again changes nothing. Raises TooMany when too many bodies of this sender
    wait for their attempts.
    """
    at = now or timezone.now()
    sender = _sender(product, key)
    try:
        return _store(sender, reading, at, span_rows.store)
    except errors.UniqueViolation:
        pass  # the exception: a sender that did not hear its answer sends again
    except errors.CheckViolation:
        # Days are made ahead; a span of another day has to wait for its own.
        span_rows.ensure_days(span_rows.days_of(reading.records, at))
    return _store(sender, reading, at, span_rows.store_again)


class Sender(NamedTuple):
    """A source, and whether bodies of it wait already."""

    pk: int
    waits: bool


@transaction.atomic
def _store(
    sender: Sender,
    reading: Reading[Packed],
    at: datetime,
    store: Callable[[int, Sequence[Packed], datetime], int],
) -> int:
    new = store(sender.pk, reading.records, at)
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, [at, sender.pk])
        if new:
            # The row is the truth: a lost task is swept up later.
            traces = b"".join({span.trace_id for span in reading.records})
            cursor.execute(_TOUCHED, [sender.pk, traces, at])
            transaction.on_commit(lambda: _enqueue(sender))
    tallies.add(sender.pk, _tally(reading, new), at)
    return new


def _sender(product: Product, key: SourceKey) -> Sender:
    """The sender's source, which the first body makes; raises TooMany when it is behind."""
    most = settings.INBOX.product_batches
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, [most, product.pk, key.kind, key.name, key.server_run])
        known = cursor.fetchone()
    if known is None:
        source, _ = Source.objects.get_or_create(
            product=product, kind=key.kind, name=key.name, server_run=key.server_run
        )
        return Sender(source.pk, False)
    source_pk, waits, is_behind = known
    if is_behind:
        raise TooMany(
            "inbox_full",
            f"Spans of {most} bodies wait to be read; send these again after Retry-After.",
            headers=retry_after(3, 10),
        )
    return Sender(source_pk, waits)


def _enqueue(sender: Sender) -> None:
    """Send a task, but few in a burst of bodies: each takes all that waits.

    A body that came just as one ended waits for the next body, or for the sweep.
    """
    now = time.monotonic()
    if sender.waits and now - _enqueued.get(sender.pk, -AT_MOST_EACH_S) < AT_MOST_EACH_S:
        return
    try:
        tasks.derive_attempts.delay(sender.pk)
        _enqueued[sender.pk] = now
    except Exception:
        # The spans are stored and the sender must hear so: the sweep finds them within seconds.
        logger.exception("spans of source %s are stored but their task was not sent", sender.pk)


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
