"""LLMServingSim's workloads, one object a line: lengths and `arrival_time_ns` from the start."""

from typing import Annotated

import msgspec

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.documents import records
from orchid.formats.reading import Lost, Nanoseconds

_Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class _Line(msgspec.Struct):
    input_toks: _Tokens
    output_toks: _Tokens
    arrival_time_ns: Nanoseconds


_DECODER = msgspec.json.Decoder(_Line)


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError when no line is one."""
    lost: list[Lost] = []
    notes: list[str] = []
    found = [one for _, _, one in records(data, _arrival, lost)]
    ordered = in_order(found, notes)
    return bounded(
        Trace(
            "LLMServingSim workload",
            Holds.ARRIVALS,
            ClockOf.START,
            ordered,
            lost=lost,
            notes=notes,
        )
    )


def _arrival(text: bytes) -> Arrival:
    line = _DECODER.decode(text)
    return Arrival(line.arrival_time_ns, line.input_toks, line.output_toks)
