"""Engine attempts: one row for each execution, whichever way it was reported."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from django.db import connection

from ingest.models import EngineAttempt
from orchid.formats.triton_objects import TODAY
from orchid.formats.triton_phases import Trace, ending, exclusive_ns, phases

Facts = dict[str, Any]


def facts_of(trace: Trace, its_children: Iterable[Trace], *, composite: bool) -> Facts:
    """What the events of an execution come to, by column."""
    found = phases(trace)
    ordered = [
        event if event[0] in TODAY else (kept(event[0]), event[1]) for event in trace.ordered
    ]
    return {
        "attempt_id": kept(trace.request_id),
        "model": kept(trace.model),
        "version": trace.model_version,
        "first_ns": trace.first_ns,
        "events": len(ordered),
        "stamps": ordered,
        "ending": ending(trace, composite=composite).value,
        "composite": composite,
        "responses": trace.responses,
        "queue_ms": _ms(found.queue_ns),
        "input_ms": _ms(found.input_ns),
        "infer_ms": _ms(found.infer_ns),
        "output_ms": _ms(found.output_ns),
        "compute_ms": _ms(found.compute_ns),
        "request_ms": _ms(found.request_ns),
        "frontend_ms": _ms(found.grpc_ns if found.http_ns is None else found.http_ns),
        "exclusive_ms": _ms(exclusive_ns(trace, its_children)),
    }


def kept(text: str | None) -> str:
    """As much of a name as is stored; PostgreSQL stores no NUL."""
    return (text or "").replace("\x00", "")[:256]


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


_TABLE, _STAGE = "ingest_engineattempt", "ingest_engineattempt_stage"
_FIELDS = tuple(
    str(field.column) for field in EngineAttempt._meta.concrete_fields if not field.primary_key
)
_FACTS = tuple(name for name in _FIELDS if name != "received_at")
_MAKE_STAGE = f"""
CREATE TEMP TABLE {_STAGE} ON COMMIT DROP AS SELECT id, {", ".join(_FACTS)} FROM {_TABLE} LIMIT 0
"""  # noqa: S608
_FROM_STAGE = f"""
UPDATE {_TABLE} AS known SET {", ".join(f"{name} = fresh.{name}" for name in _FACTS)}
FROM {_STAGE} AS fresh WHERE known.id = fresh.id
"""  # noqa: S608


def add(rows: Sequence[Facts]) -> None:
    """Store attempts that are new, by COPY straight into the table."""
    if rows:
        with connection.cursor() as cursor:
            _copy(cursor, _TABLE, _FIELDS, rows)


def rewrite(rows: Sequence[Facts]) -> None:
    """Give stored attempts, named by `id`, these facts; when they were first seen stays."""
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_MAKE_STAGE)
            _copy(cursor, _STAGE, ("id", *_FACTS), rows)
            cursor.execute(_FROM_STAGE)
            cursor.execute(f"DROP TABLE {_STAGE}")


def _copy(cursor: Any, table: str, columns: Sequence[str], rows: Iterable[Facts]) -> None:
    stamps = columns.index("stamps")
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            values = [row[name] for name in columns]
            values[stamps] = msgspec.json.encode(values[stamps]).decode()
            copy.write_row(values)
