"""BurstGPT's CSV: Timestamp (s), Model, Request, Response and Total tokens, Log Type.

A response of 0 tokens failed: it arrived and got no answer. Newer files add a session.
"""

from collections.abc import Callable

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.numbers import count, figure
from orchid.formats.tables import Table

_COLUMNS = ("Timestamp", "Model", "Request tokens", "Response tokens")
_BESIDE = ("Total tokens", "Log Type", "Session ID", "Elapsed time")


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError without the known columns or any row."""
    table = Table(data, _COLUMNS, _BESIDE)
    notes: list[str] = []
    ordered = in_order(table.read(_arrival), notes)
    return bounded(
        Trace(
            "BurstGPT trace",
            Holds.ARRIVALS,
            ClockOf.START,
            ordered,
            lost=table.lost,
            notes=notes,
            unused=table.unused,
        )
    )


def _arrival(cell: Callable[[str], str]) -> Arrival:
    tokens_in = count(cell("Request tokens"), "Request tokens")
    tokens_out = count(cell("Response tokens"), "Response tokens")
    total = cell("Total tokens")
    if total and count(total, "Total tokens") != tokens_in + tokens_out:
        raise ValueError("Total tokens are not the sum of Request and Response tokens")
    return Arrival(
        round(figure(cell("Timestamp"), "Timestamp", high=9e9) * 1e9),
        tokens_in,
        tokens_out,
        failed=tokens_out == 0,
        session=cell("Session ID")[:64],
        group=cell("Model")[:64],
    )
