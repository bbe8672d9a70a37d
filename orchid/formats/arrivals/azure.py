"""The Azure LLM inference traces of 2023 and 2024: TIMESTAMP, ContextTokens, GeneratedTokens.

Times have up to nine fractional digits and no zone (2024: an offset of 0); they are UTC.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.numbers import count
from orchid.formats.tables import Table

_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)?", re.ASCII
)
#: A context of more tokens is none.
MOST_TOKENS = 10**9


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError without the known columns or any row."""
    table = Table(data, _COLUMNS)
    found = table.read(_arrival)
    notes: list[str] = []
    ordered = in_order(found, notes)
    return bounded(
        Trace(
            "Azure LLM inference trace",
            Holds.ARRIVALS,
            ClockOf.UNIX,
            ordered,
            lost=table.lost,
            notes=notes,
            unused=table.unused,
        )
    )


def _arrival(cell: Callable[[str], str]) -> Arrival:
    return Arrival(
        unix_ns(cell("TIMESTAMP")),
        count(cell("ContextTokens"), "ContextTokens", high=MOST_TOKENS),
        count(cell("GeneratedTokens"), "GeneratedTokens", high=MOST_TOKENS),
    )


def unix_ns(text: str) -> int:
    """Unix nanoseconds of a UTC time such as 2023-11-16 18:15:46.6805900; raises ValueError."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("expected a time such as 2023-11-16 18:15:46.6805900")
    fraction = match.group(7) or ""
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return int(whole.timestamp()) * 1_000_000_000 + int(fraction.ljust(9, "0"))
