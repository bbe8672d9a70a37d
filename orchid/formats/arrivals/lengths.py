"""Vidur's processed traces: prefill and decode lengths without arrival times."""

from collections.abc import Callable

from orchid.formats.arrivals.shape import Arrival, Holds, Trace, bounded
from orchid.formats.numbers import count
from orchid.formats.tables import Table

_COLUMNS = ("num_prefill_tokens", "num_decode_tokens")
_BESIDE = ("num_total_tokens", "pd_ratio")


def read(data: bytes, name: str = "") -> Trace:
    """All lengths in the order of the file; raises UnreadableError without columns or rows."""
    table = Table(data, _COLUMNS, _BESIDE)
    found = table.read(_lengths)
    notes = ["Lengths without arrival times: a replay needs a rate from elsewhere."]
    return bounded(
        Trace(
            "Vidur lengths",
            Holds.LENGTHS,
            arrivals=found,
            lost=table.lost,
            notes=notes,
            unused=table.unused,
        )
    )


def _lengths(cell: Callable[[str], str]) -> Arrival:
    tokens_in, tokens_out = (count(cell(name), name) for name in _COLUMNS)
    return Arrival(0, tokens_in, tokens_out)
