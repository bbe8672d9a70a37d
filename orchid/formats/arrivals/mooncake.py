"""Mooncake's traces, one object a line: timestamp (ms), lengths, hash_ids of 512-token blocks.

Dynamo adds session_id, request_id and, for later turns, a delay after an answer instead of a
timestamp: such a row has no arrival of its own and is counted, not kept. Times are bunched.
"""

from typing import Annotated

import msgspec

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.documents import records
from orchid.formats.numbers import figure
from orchid.formats.reading import Lost

_Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
#: A year in milliseconds: counts from the start of a trace, or from the epoch.
_MOST_MS = 9e12
_MOST_BLOCKS = 100_000


class _Line(msgspec.Struct):
    timestamp: float | None = None
    input_length: _Tokens = 0
    output_length: _Tokens = 0
    hash_ids: Annotated[list[int], msgspec.Meta(max_length=_MOST_BLOCKS)] = []
    session_id: str | int = ""


_DECODER = msgspec.json.Decoder(_Line)


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError when no line is one."""
    lost: list[Lost] = []
    found = [one for _, _, one in records(data, _arrival, lost)]
    kept = [one for one in found if one is not None]
    notes = []
    if len(found) > len(kept):
        notes.append(
            f"{len(found) - len(kept)} rows follow an answer and have no arrival of their own."
        )
    ordered = in_order(kept, notes)
    return bounded(
        Trace("Mooncake trace", Holds.ARRIVALS, ClockOf.START, ordered, lost=lost, notes=notes)
    )


def _arrival(text: bytes) -> Arrival | None:
    line = _DECODER.decode(text)
    if line.timestamp is None:
        return None
    at_ms = figure(line.timestamp, "timestamp", high=_MOST_MS)
    # Block ids may be hashes of 64 bits without a sign; they are kept as 63 bits, still telling
    # one from another.
    prefix = tuple(block & (2**63 - 1) for block in line.hash_ids)
    return Arrival(
        round(at_ms * 1e6),
        line.input_length,
        line.output_length,
        session=str(line.session_id)[:64],
        prefix=prefix,
    )
