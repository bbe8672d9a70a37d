"""Arrival traces as of the Azure LLM inference traces: TIMESTAMP, ContextTokens, GeneratedTokens.

Times have seven fractional digits and no zone; they are UTC.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from orchid.formats.lines import lines
from orchid.formats.reading import Lost, Reading, UnreadableError

_HEADER = [b"timestamp", b"contexttokens", b"generatedtokens"]
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)?")


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request: Unix nanoseconds of its arrival, tokens in and out."""

    at_ns: int
    input_tokens: int
    output_tokens: int


def read(data: bytes) -> Reading[Arrival]:
    """All arrivals in the order of the file; raises UnreadableError without the known header."""
    rows = lines(data)
    _, _, header = next(rows, (0, 0, b""))
    if [name.strip().lower() for name in header.split(b",")] != _HEADER:
        raise UnreadableError(
            f"expected the header TIMESTAMP,ContextTokens,GeneratedTokens, found {header[:80]!r}"
        )
    kept: list[Arrival] = []
    lost: list[Lost] = []
    for number, offset, row in rows:
        try:
            kept.append(_arrival(row))
        except ValueError as error:
            lost.append(Lost(offset, str(error), number))
    return Reading(kept, lost)


def _arrival(row: bytes) -> Arrival:
    cells = row.split(b",")
    if len(cells) != len(_HEADER):
        raise ValueError(f"expected 3 cells, found {len(cells)}")
    at, tokens_in, tokens_out = cells
    return Arrival(_unix_ns(at), _tokens(tokens_in), _tokens(tokens_out))


def _tokens(cell: bytes) -> int:
    if not re.fullmatch(rb"\s*\d{1,9}\s*", cell):
        raise ValueError("expected a count of tokens")
    return int(cell)


def _unix_ns(cell: bytes) -> int:
    match = _TIME.fullmatch(cell[:64].decode("ascii", "replace").strip())
    if match is None:
        raise ValueError("expected a time such as 2023-11-16 18:15:46.6805900")
    fraction = match.group(7) or ""
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return int(whole.timestamp()) * 1_000_000_000 + int(fraction.ljust(9, "0"))
