"""Triton trace files to engine attempts."""

from ingest.models import Batch, EngineAttempt, Source
from ingest.services.attempts import attempt_of, upsert
from ingest.services.stored import Stored, lost_pieces
from ingest.states import Clock
from orchid.formats import triton_trace
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_phases import Trace, children


def store(batch: Batch, body: bytes) -> Stored:
    """Store the executions of one file. The whole file after a torn one adds only what is new."""
    reading = triton_trace.read(body)
    if not reading.records and reading.lost:
        raise UnreadableError(f"no trace in this file: {reading.lost[0].reason}")
    new, grown = upsert(attempts_of_file(batch.source, reading.records))
    counts = {
        "executions": len(reading.records),
        "inserted": new,
        "completed_later": grown,
        "duplicates": len(reading.records) - new - grown,
        "tensors_dropped": reading.dropped_text,
        "partial": int(reading.partial),
    }
    return Stored(counts, lost_pieces(reading.lost))


def attempts_of_file(source: Source, traces: list[Trace]) -> list[EngineAttempt]:
    """Attempts of one run of one server; ids are unique in the file."""
    below = children(traces)
    keys = {trace.id: key_of(trace) for trace in traces}
    composites = {trace.model for trace in traces if trace.id in below and trace.model}
    return [
        attempt_of(
            source,
            trace,
            key=keys[trace.id],
            parent_key=keys.get(trace.parent_id or 0, ""),
            clock=Clock.STEADY,
            its_children=below.get(trace.id, ()),
            composite=trace.id in below or trace.model in composites,
        )
        for trace in traces
    ]


def key_of(trace: Trace) -> str:
    """A restarted server counts ids from 1 again, and its clock is elsewhere."""
    return f"{trace.id}:{trace.first_ns}"
