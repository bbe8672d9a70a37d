"""Spans straight into their table: one COPY of ready bytes, a stage only where one came before."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from struct import pack
from typing import Any

from django.db import connection

from ingest.services.partitions import AHEAD, RETENTION
from orchid.formats.otlp import Packed

#: Spans of one day: (days since 1970, spans).
Dated = tuple[int, Sequence[Packed]]
#: Stores a block of rows; how many were new, or None for all.
Insert = Callable[[Any, bytes], int | None]

_DAY_NS = 86_400 * 10**9
_EPOCH = date(1970, 1, 1)
_POSTGRES_EPOCH = date(2000, 1, 1).toordinal() - _EPOCH.toordinal()
_COLUMNS = "day, source_id, trace_id, span_id, service, body"
_MAKE_STAGE = f"""
CREATE TEMP TABLE ingest_span_stage ON COMMIT DROP AS SELECT {_COLUMNS} FROM ingest_span LIMIT 0
"""  # noqa: S608 - constants of this file
_FROM_STAGE = f"""
INSERT INTO ingest_span ({_COLUMNS}) SELECT {_COLUMNS} FROM ingest_span_stage
ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants of this file
# PostgreSQL's binary COPY: a signature, flags and an empty extension; the end is a count of -1.
_BEGIN, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_EIGHT = pack(">i", 8)


def store(source_pk: int, spans: Sequence[Packed], now: datetime) -> int:
    """Store spans of which none was here before; how many.

    In the caller's transaction, which ends with psycopg's UniqueViolation when one was, and with
    its CheckViolation when the partition of a day is missing.
    """
    return _store(source_pk, spans, now, _copy_in)


def store_again(source_pk: int, spans: Sequence[Packed], now: datetime) -> int:
    """Store what is not there yet, at about twice the cost; how many were new."""
    return _store(source_pk, spans, now, _through_a_stage)


def _store(source_pk: int, spans: Sequence[Packed], now: datetime, insert: Insert) -> int:
    first, last = _window(now)
    starts = [span.start_ns for span in spans]
    if not starts:
        return 0
    day = min(starts) // _DAY_NS
    if day == max(starts) // _DAY_NS and first <= day <= last:
        return _insert(source_pk, ((day, spans),), insert)
    return _store_by_day(source_pk, spans, now, insert)


def _store_by_day(source_pk: int, spans: Sequence[Packed], now: datetime, insert: Insert) -> int:
    first, last = _window(now)
    usual: dict[int, list[Packed]] = defaultdict(list)
    outside: list[Packed] = []
    for span in spans:
        day = span.start_ns // _DAY_NS
        (usual[day] if first <= day <= last else outside).append(span)
    new = _insert(source_pk, usual.items(), insert)
    return new + (_insert_outside(source_pk, outside, now, insert) if outside else 0)


def days_of(spans: Iterable[Packed], now: datetime) -> set[date]:
    """The days whose partitions these spans go to."""
    first, last = _window(now)
    days = {span.start_ns // _DAY_NS for span in spans}
    inside = {day for day in days if first <= day <= last}
    extra = {now.date()} if inside != days else set()
    return {_EPOCH + timedelta(days=day) for day in inside} | extra


def ensure_days(days: Iterable[date]) -> None:
    """Make the partitions of these days; the function in the database runs as the tables' owner."""
    with connection.cursor() as cursor:
        for day in sorted(days):
            cursor.execute("SELECT ingest_ensure_span_day(%s)", [day])


def keep_days(now: datetime) -> None:
    """The partitions of today and the two days to come; none past retention."""
    ensure_days(now.date() + timedelta(days=ahead) for ahead in range(3))
    with connection.cursor() as cursor:
        cursor.execute("SELECT ingest_drop_span_days_before(%s)", [now.date() - RETENTION])


def _window(now: datetime) -> tuple[int, int]:
    """First and last day, since 1970, on which a span's own start decides where it lies."""
    first, last = (now - RETENTION).date(), (now + AHEAD).astimezone(UTC).date()
    return (first - _EPOCH).days, (last - _EPOCH).days


def _insert_outside(source_pk: int, spans: Sequence[Packed], now: datetime, insert: Insert) -> int:
    """Old recordings, and hosts whose clock is elsewhere: such spans lie on the day they came.

    So they are kept as long as any other. The key has the day in it, so that whether one was here
    on an earlier day is asked first, one body of a source at a time.
    """
    day = (now.date() - _EPOCH).days
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('ingest_span'), %s)", [source_pk])
        cursor.execute(
            "SELECT trace_id, span_id FROM ingest_span"
            " WHERE source_id = %s AND trace_id = ANY(%s::uuid[])",
            [source_pk, list({span.trace_id.hex() for span in spans})],
        )
        known = {(trace.bytes, _unsigned(span)) for trace, span in cursor.fetchall()}
    new = [span for span in spans if (span.trace_id, span.span_id) not in known]
    return _insert(source_pk, ((day, new),), insert)


def _unsigned(span_id: int) -> bytes:
    return span_id.to_bytes(8, "big", signed=True)


def _insert(source_pk: int, dated: Iterable[Dated], insert: Insert) -> int:
    """How many were new."""
    filled = [one for one in dated if one[1]]
    if not filled:
        return 0
    with connection.cursor() as cursor:
        new = insert(cursor, binary_rows(source_pk, filled))
    return sum(len(spans) for _, spans in filled) if new is None else new


def binary_rows(source_pk: int, dated: Iterable[Dated]) -> bytes:
    """Rows as PostgreSQL's binary COPY takes them: a length before each value, no escapes."""
    parts = [_BEGIN]
    services: dict[str, bytes] = {}
    for day, spans in dated:
        head = _head(source_pk, day)
        for span in spans:
            body, name = span.body, span.service
            service = services.get(name) or services.setdefault(name, _text(name))
            size = len(body).to_bytes(4, "big")
            parts += (head, span.trace_id, _EIGHT, span.span_id, service, size, body)
    parts.append(_END)
    return b"".join(parts)


def _head(source_pk: int, day: int) -> bytes:
    """What comes before a trace id: the count of columns, day, source, and the id's length."""
    return pack(">hiiiqi", 6, 4, day - _POSTGRES_EPOCH, 8, source_pk, 16)


def _text(value: str) -> bytes:
    """PostgreSQL's text holds no NUL."""
    encoded = value.replace("\x00", "").encode()
    return pack(">i", len(encoded)) + encoded


def _copy_in(cursor: Any, block: bytes) -> None:
    """All or nothing: whoever is stored before fails the whole of it."""
    _copy(cursor, "ingest_span", block)


def _through_a_stage(cursor: Any, block: bytes) -> int:
    cursor.execute(_MAKE_STAGE)
    _copy(cursor, "ingest_span_stage", block)
    cursor.execute(_FROM_STAGE)
    new: int = cursor.rowcount
    cursor.execute("DROP TABLE ingest_span_stage")
    return new


def _copy(cursor: Any, table: str, block: bytes) -> None:
    with cursor.copy(f"COPY {table} ({_COLUMNS}) FROM STDIN (FORMAT binary)") as copy:
        copy.write(block)
