"""Engine attempts: one row for each execution, whichever way it was reported."""

from collections.abc import Iterable

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
        source=source,
        key=key,
        parent_key=parent_key,
        attempt_id=(trace.request_id or "").replace("\x00", "")[:256],
        model=(trace.model or "").replace("\x00", "")[:256],
        version=trace.model_version,
        clock=clock,
        first_ns=trace.first_ns,
        events=len(trace.events),
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


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


_FIELDS = tuple(
    str(field.column) for field in EngineAttempt._meta.concrete_fields if not field.primary_key
)
_ROWS_AT_ONCE = 500
_INSERT = f"INSERT INTO ingest_engineattempt ({', '.join(_FIELDS)}) VALUES "  # noqa: S608
_ONE = f"({', '.join(['%s'] * len(_FIELDS))})"
_ELSE = f"""
ON CONFLICT (source_id, key) DO UPDATE
SET {", ".join(f"{name} = excluded.{name}" for name in _FIELDS if name != "received_at")}
WHERE ingest_engineattempt.events < excluded.events
   OR (ingest_engineattempt.events = excluded.events
       AND (excluded.composite OR excluded.parent_key <> '')
       AND (ingest_engineattempt.exclusive_ms, ingest_engineattempt.parent_key)
           IS DISTINCT FROM (excluded.exclusive_ms, excluded.parent_key))
RETURNING (xmax = 0)
"""


def upsert(attempts: Iterable[EngineAttempt]) -> tuple[int, int]:
    """Store attempts; (new, grown).

    One that is known is replaced only by more of its events, or by the same with its family known.
    """
    # One statement may not meet a row twice, and keys are unique within a delivery anyway.
    rows = list({(one.source_id, one.key): one for one in attempts}.values())
    new = stored = 0
    with connection.cursor() as cursor:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            statement = _INSERT + ", ".join([_ONE] * len(part)) + _ELSE
            cursor.execute(statement, [getattr(one, name) for one in part for name in _FIELDS])
            answers = [row[0] for row in cursor.fetchall()]
            new, stored = new + sum(answers), stored + len(answers)
    return new, stored - new
