"""Triton trace files to engine attempts."""

from dataclasses import dataclass, field

from ingest.models import Batch, Source
from ingest.services.joining import join
from ingest.services.stored import Stored, lost_pieces
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_phases import Trace
from orchid.formats.triton_trace import TraceReader

#: As much of a body as is turned into rows at once, so that a large one takes no more memory.
AT_ONCE = 4 * 1024 * 1024


def store(batch: Batch, body: bytes) -> Stored:
    """Store the executions of one file, or of a part of one; only what is new of it adds a row."""
    reader, tally = TraceReader(), _Tally(batch.source)
    for start in range(0, len(body), AT_ONCE):
        reader.feed(body[start : start + AT_ONCE])
        tally.add(reader.take())
    tally.add(reader.close())
    if not tally.seen and reader.lost:
        raise UnreadableError(f"no trace in this file: {reader.lost[0].reason}")
    counts = {
        "executions": len(tally.new) + len(tally.grown) + len(tally.same),
        "inserted": len(tally.new),
        "completed_later": len(tally.grown),
        "duplicates": len(tally.same),
        "tensors_dropped": reader.dropped_text,
        "partial": int(bool(reader.lost) or not reader.complete),
    }
    if reader.more_lost:
        counts["lost_unnamed"] = reader.more_lost
    return Stored(counts, lost_pieces(reader.lost))


@dataclass
class _Tally:
    """What the body's executions came to, by their numbers; one may come in two helpings."""

    source: Source
    seen: bool = False
    new: set[int] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    same: set[int] = field(default_factory=set)

    def add(self, traces: list[Trace]) -> None:
        if not traces:
            return
        self.seen = True
        joined = join(self.source, traces)
        self.new |= joined.new
        self.grown |= joined.grown - self.new
        self.same |= joined.same - self.new - self.grown
        self.same -= self.grown
