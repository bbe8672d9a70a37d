"""Arrivals of a measured vLLM run: its `arrival_time` is of the wall clock, and only that is read.

The other stamps of a line are of the engine's monotonic clock; see `trials.vllm_requests`.
"""

from typing import Annotated

import msgspec

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.documents import records
from orchid.formats.numbers import figure
from orchid.formats.reading import Lost

_Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class _Line(msgspec.Struct):
    input_toks: _Tokens
    output_toks: _Tokens
    arrival_time: float


_DECODER = msgspec.json.Decoder(_Line)


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError when no line is one."""
    lost: list[Lost] = []
    notes: list[str] = []
    found = [one for _, _, one in records(data, _arrival, lost)]
    ordered = in_order(found, notes)
    return bounded(Trace("vLLM run", Holds.ARRIVALS, ClockOf.UNIX, ordered, lost=lost, notes=notes))


def _arrival(text: bytes) -> Arrival:
    line = _DECODER.decode(text)
    at_s = figure(line.arrival_time, "arrival_time", high=9e9)
    return Arrival(round(at_s * 1e9), line.input_toks, line.output_toks)
