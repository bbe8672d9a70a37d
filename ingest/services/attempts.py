"""Engine attempts: one row for each execution, whichever way it was reported."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec
from django.db import connection

from ingest.models import EngineAttempt, Source
from orchid.formats.triton_phases import Trace, ending, exclusive_ns, phases


def attempt_of(
    source: Source,
    trace: Trace,
    *,
    key: str,
    parent_key: str,
    clock: str,
    its_children: Iterable[Trace],
    composite: bool,
) -> EngineAttempt:
    """The row of a trace. Durations are milliseconds; what an event is missing for stays null."""
    found = phases(trace)
    frontend_ns = found.http_ns if found.http_ns is not None else found.grpc_ns
    return EngineAttempt(
        product_id=source.product_id,
        source_id=source.pk,
        key=key,
        parent_key=parent_key,
        attempt_id=kept(trace.request_id),
        model=kept(trace.model),
        version=trace.model_version,
        clock=clock,
        first_ns=trace.first_ns,
        events=len(trace.events),
        stamps=[[kept(name), ns] for name, ns in sorted(trace.events, key=lambda one: one[::-1])],
        ending=ending(trace, composite=composite),
        composite=composite,
        responses=trace.responses,
        queue_ms=_ms(found.queue_ns),
        input_ms=_ms(found.input_ns),
        infer_ms=_ms(found.infer_ns),
        output_ms=_ms(found.output_ns),
        compute_ms=_ms(found.compute_ns),
        request_ms=_ms(found.request_ns),
        frontend_ms=_ms(frontend_ns),
        exclusive_ms=_ms(exclusive_ns(trace, its_children)),
    )


def kept(text: str | None) -> str:
    """As much of a name as is stored; PostgreSQL stores no NUL."""
    return (text or "").replace("\x00", "")[:256]


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


_TABLE, _STAGE = "ingest_engineattempt", "ingest_engineattempt_stage"
_FIELDS = tuple(
    str(field.column) for field in EngineAttempt._meta.concrete_fields if not field.primary_key
)
_STAMPS = _FIELDS.index("stamps")
_COLUMNS = ", ".join(_FIELDS)
#: What a later telling may add beside events: the family of an execution, and its tokens.
_FIGURES = (
    "exclusive_ms, first_token_ms, input_tokens, cached_input_tokens, cache_write_tokens,"
    " output_tokens"
)


def _known(row: str) -> str:
    figures = ", ".join(f"{row}.{name}" for name in _FIGURES.split(", "))
    return (
        f"{row}.events + {row}.composite::int + ({row}.parent_key <> '')::int"
        f" + ({row}.attempt_id <> '')::int + num_nonnulls({figures})"
    )


def _all(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in _FIELDS if name != "received_at")


_MAKE_STAGE = f"""
CREATE TEMP TABLE {_STAGE} ON COMMIT DROP AS SELECT {_COLUMNS} FROM {_TABLE} LIMIT 0
"""  # noqa: S608
_FROM_STAGE = f"""
INSERT INTO {_TABLE} ({_COLUMNS}) SELECT {_COLUMNS} FROM {_STAGE} ORDER BY source_id, key
ON CONFLICT (source_id, key) DO UPDATE
SET {", ".join(f"{name} = excluded.{name}" for name in _FIELDS if name != "received_at")}
WHERE {_known(_TABLE)} <= {_known("excluded")}
  AND ({_all(_TABLE)}) IS DISTINCT FROM ({_all("excluded")})
RETURNING (xmax = 0)
"""  # noqa: S608


def upsert(attempts: Iterable[EngineAttempt]) -> tuple[int, int]:
    """Store attempts; (new, grown).

    One that is known is replaced only by what knows at least as much: its events, its family, its
    tokens. Rows go in by key, so that two senders of the same ones wait and never lock each other.
    """
    # One statement may not meet a row twice, and the last telling of it is the newest.
    rows = list({(one.source_id, one.key): one for one in attempts}.values())
    if not rows:
        return 0, 0
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_STAGE)
        _copy(cursor, _STAGE, rows)
        cursor.execute(_FROM_STAGE)
        answers = [row[0] for row in cursor.fetchall()]
        cursor.execute(f"DROP TABLE {_STAGE}")
    return sum(answers), len(answers) - sum(answers)


def add(attempts: Sequence[EngineAttempt]) -> None:
    """Store attempts that are known to be new, straight into the table."""
    if attempts:
        with connection.cursor() as cursor:
            _copy(cursor, _TABLE, attempts)


def _copy(cursor: Any, table: str, attempts: Iterable[EngineAttempt]) -> None:
    with cursor.copy(f"COPY {table} ({_COLUMNS}) FROM STDIN") as copy:
        for one in attempts:
            copy.write_row(_values(one))


def _values(attempt: EngineAttempt) -> list[Any]:
    held = attempt.__dict__
    values = [held[name] for name in _FIELDS]
    values[_STAMPS] = msgspec.json.encode(values[_STAMPS]).decode()
    return [value.value if isinstance(value, Enum) else value for value in values]
