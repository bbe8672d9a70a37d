"""Parts of a server run's traces to its executions, whatever the parts and their order.

A file of any size comes as parts, and a trace may lie in two of them. So the rows are the open
traces: a part is united with what the run's rows hold of the same numbers, and every figure of
whoever is touched is computed again from all the stamps. What is stored is a function of the stamps
that came, and of nothing else.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection

from ingest.models import EngineAttempt, EngineHeader, Source
from ingest.services.attempts import add, kept, rewrite
from ingest.services.executions import Execution, rows_by
from ingest.services.families import settled
from orchid.formats.triton_epochs import epochs
from orchid.formats.triton_phases import Trace


@dataclass
class Joined:
    """Numbers of the part's executions: first seen, known and now with more, known as they are."""

    new: set[int] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    same: set[int] = field(default_factory=set)


@dataclass
class _Part:
    """A part united with its run: the executions, and what is to be kept or dropped beside them."""

    executions: list[Execution] = field(default_factory=list)
    surplus: list[EngineAttempt] = field(default_factory=list)
    waiting: list[EngineHeader] = field(default_factory=list)
    waited_for: list[EngineHeader] = field(default_factory=list)


def join(source: Source, traces: Sequence[Trace]) -> Joined:
    """Unite a part with the rows of its run. Inside the batch's transaction."""
    _one_at_a_time(source)
    part = _united(source, traces)
    changed = settled(source, part.executions)
    _write(part, changed)
    return _counted(part, changed)


def _one_at_a_time(source: Source) -> None:
    """Two workers with parts of one run would each unite with rows that lack the other's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"executions:{source.pk}"]
        )


def _united(source: Source, traces: Sequence[Trace]) -> _Part:
    numbers = [trace.id for trace in traces]
    rows: dict[int, list[EngineAttempt]] = defaultdict(list)
    for row in rows_by(source, "engine_id", numbers):
        rows[row.engine_id or 0].append(row)
    headers = EngineHeader.objects.filter(source=source)
    waiting = {one.engine_id: one for one in headers.filter(engine_id__in=numbers)}
    part = _Part()
    for trace in traces:
        held, header = rows.get(trace.id, []), waiting.get(trace.id)
        found = _unite(trace, held, header)
        part.executions += found
        part.surplus += _left_over(held, found)
        if header is not None and any(_tells(header, one.trace) for one in found):
            part.waited_for.append(header)
        elif header is None and not trace.events:
            fresh = _header(source, trace)
            if not any(_tells(fresh, one.trace) for one in found):
                part.waiting.append(fresh)
    return part


def _unite(
    trace: Trace, rows: list[EngineAttempt], waiting: EngineHeader | None
) -> list[Execution]:
    """The executions of one number: this part's events with those of the rows, by epoch."""
    events = [*trace.events, *(event for row in rows for event in _events(row))]
    found = []
    for epoch in epochs(events):
        held = [row for row in rows if _within(row, epoch)]
        told = _told(trace.id, epoch, _teller(epoch, trace, held, waiting))
        found.append(Execution(told, held[0] if held else None))
    return found


def _left_over(rows: list[EngineAttempt], found: list[Execution]) -> list[EngineAttempt]:
    """Rows of what turned out to be one execution: all but the first."""
    kept_rows = {one.row.pk for one in found if one.row is not None}
    return [row for row in rows if row.stamps and row.pk not in kept_rows]


def _events(row: EngineAttempt) -> Iterator[tuple[str, int]]:
    return ((name, ns) for name, ns in row.stamps)


def _within(row: EngineAttempt, epoch: Sequence[tuple[str, int]]) -> bool:
    return epoch[0][1] <= row.first_ns <= epoch[-1][1]


Teller = Trace | EngineAttempt | EngineHeader


def _teller(
    epoch: Sequence[tuple[str, int]],
    trace: Trace,
    rows: Iterable[EngineAttempt],
    waiting: EngineHeader | None,
) -> Teller | None:
    """Who says which model and request this is: the row, this part, or a header that waited."""
    for row in rows:
        if row.model:
            return row
    if trace.model is not None and (not trace.events or not {*epoch}.isdisjoint(trace.events)):
        return trace
    return waiting


def _told(number: int, events: tuple[tuple[str, int], ...], teller: Teller | None) -> Trace:
    if teller is None:
        return Trace(number, events)
    if isinstance(teller, Trace):
        return Trace(
            number,
            events,
            teller.model,
            teller.model_version,
            teller.request_id,
            teller.parent_id,
        )
    return Trace(
        number,
        events,
        teller.model or None,
        teller.version,
        teller.attempt_id or None,
        teller.parent_engine_id,
    )


def _header(source: Source, trace: Trace) -> EngineHeader:
    return EngineHeader(
        source=source,
        engine_id=trace.id,
        model=kept(trace.model),
        version=trace.model_version,
        attempt_id=kept(trace.request_id),
        parent_engine_id=trace.parent_id,
    )


def _tells(header: EngineHeader, trace: Trace) -> bool:
    """Whether this is what an execution already says of itself."""
    return (header.model, header.attempt_id, header.parent_engine_id) == (
        kept(trace.model),
        kept(trace.request_id),
        trace.parent_id,
    )


def _write(part: _Part, changed: Sequence[Execution]) -> None:
    EngineHeader.objects.bulk_create(part.waiting, batch_size=1000)
    EngineHeader.objects.filter(pk__in=[one.pk for one in part.waited_for]).delete()
    EngineAttempt.objects.filter(pk__in=[one.pk for one in part.surplus]).delete()
    add([one.facts for one in changed if one.row is None])
    rewrite([one.facts for one in changed if one.row is not None])


def _counted(part: _Part, changed: Sequence[Execution]) -> Joined:
    touched = {id(one) for one in changed}
    joined = Joined()
    for one in part.executions:
        if one.row is None:
            joined.new.add(one.number)
        elif id(one) in touched:
            joined.grown.add(one.number)
        else:
            joined.same.add(one.number)
    return joined
