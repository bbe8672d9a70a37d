"""Values as PostgreSQL's binary COPY takes them: four bytes of length, then the value.

https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT and the `recv` function
of each type. A text is never parsed again, a number is eight bytes instead of its digits.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from struct import pack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
_TEXT_OID = 25
_POSITIVE, _GROUP = 0, 4
_NO_TEXTS = pack("!iiii", 12, 0, 0, _TEXT_OID)
#: Days and microseconds are counted from 2000-01-01.
DAY_ZERO, MICROSECOND_ZERO = 10_957, 946_684_800_000_000


def text(value: str) -> bytes:
    data = value.encode()
    return len(data).to_bytes(4) + data


def integer(value: int | None) -> bytes:
    return NULL if value is None else pack("!ii", 4, value)


def bigint(value: int) -> bytes:
    return pack("!iq", 8, value)


def boolean(value: bool | None) -> bytes:
    return NULL if value is None else pack("!i?", 1, value)


def texts(values: Sequence[str]) -> bytes:
    """An array of texts."""
    if not values:
        return _NO_TEXTS
    inside = b"".join(map(text, values))
    return pack("!iiiiii", 20 + len(inside), 1, 0, _TEXT_OID, len(values), 1) + inside


def numeric(value: Decimal) -> bytes:
    """A number from 0 on; its digits go in groups of four around the point."""
    whole, _, fraction = f"{value:f}".partition(".")
    before, after = _padded(len(whole)), _padded(len(fraction))
    figures = whole.zfill(before) + fraction.ljust(after, "0")
    digits = [int(figures[at : at + _GROUP]) for at in range(0, before + after, _GROUP)]
    head = (len(digits), before // _GROUP - 1, _POSITIVE, len(fraction))
    return pack(f"!ihhHH{len(digits)}h", 8 + 2 * len(digits), *head, *digits)


def _padded(length: int) -> int:
    return -(-length // _GROUP) * _GROUP


class Numbers(NamedTuple):
    """A column of numbers: how each is written, and which are not known."""

    form: str
    values: NDArray[Any]
    unknown: NDArray[np.bool_] | None = None


def numbers(columns: Sequence[Numbers], count: int) -> list[bytes]:
    """The columns' numbers row by row. Rows with the same unknowns are written together."""
    pattern = np.zeros(count, dtype=np.int64)
    for place, column in enumerate(columns):
        if column.unknown is not None:
            pattern |= column.unknown.astype(np.int64) << place
    written: list[bytes] = [b""] * count
    for missing in np.unique(pattern).tolist():
        rows = np.flatnonzero(pattern == missing)
        data, width = _written(columns, rows, missing)
        for at, row in enumerate(rows.tolist()):
            written[row] = data[at * width : (at + 1) * width]
    return written


def _written(columns: Sequence[Numbers], rows: NDArray[Any], missing: int) -> tuple[bytes, int]:
    form = _form(tuple(column.form for column in columns), missing)
    table = np.empty(len(rows), dtype=form)
    for place, column in enumerate(columns):
        table[f"n{place}"] = -1
        if not missing >> place & 1:
            table[f"n{place}"] = form[f"v{place}"].itemsize
            table[f"v{place}"] = column.values[rows]
    return table.tobytes(), form.itemsize


@lru_cache(maxsize=1024)
def _form(forms: tuple[str, ...], missing: int) -> np.dtype[Any]:
    fields: list[tuple[str, str]] = []
    for place, form in enumerate(forms):
        fields.append((f"n{place}", ">i4"))
        if not missing >> place & 1:
            fields.append((f"v{place}", form))
    return np.dtype(fields)
