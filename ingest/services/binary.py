"""Values as PostgreSQL's binary COPY takes them: four bytes of length, then the value.

https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT and the `recv` function
of each type. A text is never parsed again, a number is eight bytes instead of its digits.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import pack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
_TEXT_OID = 25
#: A `numeric` has figures in groups of four around its point, after four numbers that say how.
_GROUP, _BASE, _HEAD, _POSITIVE = 4, 10_000, 4, 0
#: For parts of 64 bits that can still be summed, and for the largest amount that 64 attempts state.
_GROUPS, _MOST_GROUPS = 5, 9
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
    if len(values) == 1:
        data = values[0].encode()
        return _before_only(len(data)) + data
    if not values:
        return _NO_TEXTS
    inside = b"".join(map(text, values))
    return pack("!iiiiii", 20 + len(inside), 1, 0, _TEXT_OID, len(values), 1) + inside


@lru_cache(maxsize=1024)
def _before_only(size: int) -> bytes:
    """What an array of one text has before the text itself, which has so many bytes."""
    return pack("!iiiiiii", 24 + size, 1, 0, _TEXT_OID, 1, 1, size)


@lru_cache(maxsize=1 << 14)
def length(size: int) -> bytes:
    """What stands before a value of so many bytes."""
    return size.to_bytes(4)


class Numbers(NamedTuple):
    """A column of numbers: how each is written, and which are not known."""

    form: str
    values: NDArray[Any]
    unknown: NDArray[np.bool_] | None = None


def numerics(parts: NDArray[Any], places: int, unknown: NDArray[np.bool_] | None = None) -> Numbers:
    """A column of `numeric`: numbers from 0 on, in whole parts of which one has 10**places.

    The server drops the zeros before a number, so all are written equally wide.
    """
    after = -(-places // _GROUP)
    groups = _GROUPS if parts.dtype == np.int64 else _MOST_GROUPS
    left = parts * 10 ** (after * _GROUP - places)
    table = np.empty((len(parts), _HEAD + groups), dtype=np.int16)
    table[:, :_HEAD] = groups, groups - after - 1, _POSITIVE, places
    for place in reversed(range(_HEAD, _HEAD + groups)):
        left, table[:, place] = left // _BASE, left % _BASE
    return Numbers(f"({_HEAD + groups},)>i2", table, unknown)


def numbers(columns: Sequence[Numbers], sizes: NDArray[Any]) -> list[bytes]:
    """The columns' numbers row by row, and the size of the text that comes after each row's.

    Rows with the same unknowns are written together.
    """
    pattern = np.zeros(len(sizes), dtype=np.int64)
    for place, column in enumerate(columns):
        if column.unknown is not None:
            pattern |= column.unknown.astype(np.int64) << place
    written: list[bytes] = [b""] * len(sizes)
    for missing in np.unique(pattern).tolist():
        rows = np.flatnonzero(pattern == missing)
        data, width = _written(columns, sizes, rows, missing)
        for at, row in enumerate(rows.tolist()):
            written[row] = data[at * width : (at + 1) * width]
    return written


def _written(
    columns: Sequence[Numbers], sizes: NDArray[Any], rows: NDArray[Any], missing: int
) -> tuple[bytes, int]:
    form = _form(tuple(column.form for column in columns), missing)
    table = np.empty(len(rows), dtype=form)
    for place, column in enumerate(columns):
        table[f"n{place}"] = -1
        if not missing >> place & 1:
            table[f"n{place}"] = form[f"v{place}"].itemsize
            table[f"v{place}"] = column.values[rows]
    table["size"] = sizes[rows]
    return table.tobytes(), form.itemsize


@lru_cache(maxsize=1024)
def _form(forms: tuple[str, ...], missing: int) -> np.dtype[Any]:
    fields: list[tuple[str, str]] = []
    for place, form in enumerate(forms):
        fields.append((f"n{place}", ">i4"))
        if not missing >> place & 1:
            fields.append((f"v{place}", form))
    return np.dtype([*fields, ("size", ">i4")])
