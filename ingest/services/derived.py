"""Attempts from spans: always from every span of a trace that is known, so that it does not matter
over how many bodies, in which order and how often they came.

One worker at a time reads a source. It takes the rows that name touched traces, reads those traces
whole, writes what they make and removes the rows, all in one transaction.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from controlplane.errors import unavailable
from ingest.models import EngineAttempt, EngineSpan, Source, TouchedTraces
from ingest.services import tallies
from ingest.services.attempts import Facts
from ingest.services.replacing import replace
from ingest.services.span_attempts import attempts_of, summaries_of
from ingest.services.stored import RejectedPiece
from orchid.formats.otlp import Span, unpacked

logger = logging.getLogger(__name__)

#: Rows and traces of one transaction, and spans that are read of one trace.
ROWS, TRACES, SPANS = 64, 5_000, 10_000
_TRACE_BYTES = 16


def derive(source_pk: int) -> None:
    """Write the attempts of every touched trace of a source; nothing where another worker does."""
    while _derive_some(source_pk):
        pass


@transaction.atomic
def _derive_some(source_pk: int) -> bool:
    """Whether there may be more."""
    if not _alone(source_pk):
        return False
    rows = list(TouchedTraces.objects.filter(source_id=source_pk).order_by("pk")[:ROWS])
    if not rows:
        return False
    source = Source.objects.get(pk=source_pk)
    for traces in _in_parts(sorted({one for row in rows for one in _ids(row)})):
        _write_or_name(source, traces)
    TouchedTraces.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return True


def _alone(source_pk: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtext('ingest_derive'), %s)", [source_pk]
        )
        return bool(cursor.fetchone()[0])


def _ids(row: TouchedTraces) -> Iterator[bytes]:
    joined = bytes(row.trace_ids)
    for start in range(0, len(joined), _TRACE_BYTES):
        yield joined[start : start + _TRACE_BYTES]


def _in_parts(traces: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(traces), TRACES):
        yield traces[start : start + TRACES]


def _write_or_name(source: Source, traces: Sequence[bytes]) -> None:
    """Write their attempts. A trace that can't be is named on its source and holds up no other."""
    try:
        with transaction.atomic():
            _write(source, traces)
    except Exception as error:
        if unavailable(error):
            raise
        logger.exception("spans of source %s could not be read", source.pk)
        if len(traces) > 1:
            half = len(traces) // 2
            _write_or_name(source, traces[:half])
            _write_or_name(source, traces[half:])
        else:
            tallies.add(source.pk, _unread(traces[0], error))


def _unread(trace: bytes, error: Exception) -> tallies.Tally:
    message = f"trace {trace.hex()}: {type(error).__name__} while reading its spans"
    return tallies.Tally(rejected=1, pieces=[RejectedPiece(code="trace_unread", message=message)])


def _write(source: Source, traces: Iterable[bytes]) -> None:
    rows: list[Facts] = []
    gone: list[str] = []
    for spans in _spans_by_trace(source.pk, traces):
        rows += attempts_of(spans)
        gone += summaries_of(spans)
    replace(source, rows, timezone.now())
    # What looked like a call of its own before the calls below it came.
    if gone:
        EngineAttempt.objects.filter(source=source, key__in=gone).delete()


def _spans_by_trace(source_pk: int, traces: Iterable[bytes]) -> Iterator[list[Span]]:
    found = EngineSpan.objects.filter(
        source_id=source_pk, trace_id__in=[UUID(bytes=one) for one in traces]
    ).order_by("trace_id", "span_id")
    rows = found.values_list("trace_id", "service", "body").iterator()
    for _, group in groupby(rows, key=lambda row: row[0]):
        # Twice where a host's clock moved its day between two deliveries.
        once = {span.span_id: span for span in (unpacked(*row) for row in _cut(group))}
        yield list(once.values())


def _cut(group: Iterable[tuple[UUID, str, Any]]) -> Iterator[tuple[bytes, str]]:
    return ((bytes(body), service) for _, service, body in islice(group, SPANS))


def forgotten(now: datetime) -> list[int]:
    """Sources with traces that no worker took within seconds."""
    waiting = TouchedTraces.objects.filter(received_at__lte=now - timedelta(seconds=2))
    return list(waiting.order_by("source").values_list("source_id", flat=True).distinct())
