"""Many histograms on the one grid, added up at the speed of memory.

A row is one histogram. Few samples are told by entries. Where many buckets of a range hold some, as
in dense traffic, the rows are a table of that range in the narrowest numbers, which is added up as
it lies: sums stay narrow while they surely hold, and are widened only then.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchid.engine.histogram import OVERFLOW, rank_of, upper_edge_ms

Wholes = NDArray[np.int64]
Narrow = NDArray[Any]

BUCKETS = OVERFLOW + 1
#: A table begins and ends at multiples of so many buckets, so that neighbours in time lie alike.
_ROUNDED = 16
#: A table is worth its zeros where one in so many buckets is none.
_SPARSE = 3
#: So many numbers are added up in a table rather than sorted.
_MOST_IN_TABLE = 1 << 24
#: So many rows that become one are added up table by table, which leaves next to nothing to add.
_MUCH = 8
_WIDER: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype("<u1"): np.dtype("<u2"),
    np.dtype("<u2"): np.dtype("<u4"),
    np.dtype("<u4"): np.dtype("<i8"),
}


@dataclass(frozen=True, slots=True)
class Entries:
    """Counts that are not 0, in order of row and bucket."""

    row: Wholes
    bucket: Wholes
    count: Wholes


_NONE = np.zeros(0, dtype=np.int64)
NO_ENTRIES = Entries(_NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True)
class Table:
    """The counts of some rows in one range of buckets: [place in `rows`, bucket - `first`].

    The last column is OVERFLOW, which lies in no range. `top` is no less than any count.
    """

    rows: Wholes
    first: int
    counts: Narrow
    top: int

    @property
    def last(self) -> int:
        """The bucket behind the range."""
        return self.first + int(self.counts.shape[1]) - 1


Histograms = Entries | Table
#: Histograms, and by row of theirs the row that it is added to.
Placed = tuple[Histograms, Wholes]


def entries_of(histograms: Histograms) -> Entries:
    """The same as entries."""
    if isinstance(histograms, Entries):
        return histograms
    place, column = np.nonzero(histograms.counts)
    bucket = np.where(
        column < histograms.last - histograms.first, column + histograms.first, OVERFLOW
    )
    count = histograms.counts[place, column].astype(np.int64)
    order = np.argsort(histograms.rows[place], kind="stable")
    return Entries(histograms.rows[place][order], bucket[order], count[order])


def table_of(entries: Entries) -> Table | None:
    """The same as a table; None where that would mostly hold zeros, or what no width holds."""
    inside = entries.bucket < OVERFLOW
    bucket = entries.bucket[inside]
    if not len(bucket) or int(entries.count.max()) >= 2**32:
        return None
    rows, place = np.unique(entries.row, return_inverse=True)
    first = int(bucket.min()) // _ROUNDED * _ROUNDED
    width = -(-(int(bucket.max()) + 1 - first) // _ROUNDED) * _ROUNDED
    if len(rows) * width > _SPARSE * len(bucket):
        return None
    top = int(entries.count.max())
    counts = np.zeros((len(rows), width + 1), dtype=_width_of(top))
    counts[place, np.where(inside, entries.bucket - first, width)] = entries.count
    return Table(rows, first, counts, top)


def summed(parts: Sequence[Placed], rows: int) -> Entries:
    """All histograms by the rows that they are added to, of which there are so many."""
    tables = _alike((one, to) for one, to in parts if isinstance(one, Table))
    listed = [(one, to) for one, to in parts if isinstance(one, Entries) and len(one.row)]
    held = sum(len(one.row) for one, _ in listed)
    # Looking for the range of many entries takes longer than a few zeros more.
    whole_grid = rows * OVERFLOW <= held
    first, last = (0, OVERFLOW) if whole_grid else _range_of_all(tables, listed)
    size = rows * max(0, last - first)
    if size > _MOST_IN_TABLE or (not tables and size > 4 * held):
        return _sorted([(entries_of(one), to) for one, to in parts])
    whole = _Whole(rows, first, max(first, last))
    for some in tables:
        whole.add_tables(some)
    for entries, to in listed:
        whole.add_entries(entries, to)
    return whole.entries()


def percentile_of(bucket: Wholes, count: Wholes, quantile: float) -> float | None:
    """`histogram.percentile_ms` of buckets in order with their counts."""
    held = np.cumsum(count)
    if not len(held) or not held[-1]:
        return None
    place = int(np.searchsorted(held, rank_of(quantile, int(held[-1]))))
    return upper_edge_ms(int(bucket[place]))


class _Whole:
    """Sums of a range of buckets by row; the last column is OVERFLOW."""

    def __init__(self, rows: int, first: int, last: int) -> None:
        self._first, self._width = first, last - first
        self._sums = np.zeros((rows, self._width + 1), dtype=np.int64)

    def add_entries(self, entries: Entries, to: Wholes) -> None:
        row_at = to * (self._width + 1) - self._first
        place = row_at[entries.row]
        # Only OVERFLOW lies behind the range.
        place += np.minimum(entries.bucket, self._first + self._width)
        np.add.at(self._sums.reshape(-1), place, entries.count)

    def add_tables(self, alike: Sequence[tuple[Table, Wholes]]) -> None:
        """Tables of equal rows, range and width of numbers."""
        table, to = alike[0]
        fold = _Fold(to[table.rows])
        if fold.much:
            for one, _ in alike:
                self._add(fold.rows, table.first, fold.of(one.counts, one.top))
            return
        flat = _added([(one.counts.reshape(-1), one.top) for one, _ in alike])
        top = sum(one.top for one, _ in alike)
        self._add(fold.rows, table.first, fold.of(flat.reshape(table.counts.shape), top))

    def _add(self, rows: Wholes, first: int, counts: Narrow) -> None:
        """Rows of a table, each of them once."""
        column = first - self._first
        self._sums[rows, column : column + counts.shape[1] - 1] += counts[:, :-1]
        self._sums[rows, self._width] += counts[:, -1]

    def entries(self) -> Entries:
        place = np.flatnonzero(self._sums)
        row, column = np.divmod(place, self._width + 1)
        bucket = np.where(column < self._width, column + self._first, OVERFLOW)
        return Entries(row, bucket, self._sums.reshape(-1)[place])


class _Fold:
    """A table's rows added up by the row that each goes to; `rows` are those, in order."""

    def __init__(self, to: Wholes) -> None:
        self._order = np.argsort(to, kind="stable")
        self.rows, self._starts = np.unique(to[self._order], return_index=True)
        self._count = len(to)

    @property
    def much(self) -> bool:
        """Whether it leaves so few rows that they are added up before anything else."""
        return len(self.rows) * _MUCH <= self._count

    def of(self, counts: Narrow, top: int) -> Narrow:
        """The folded table, of which no count is above `top`; wide enough for every sum."""
        if len(self.rows) == self._count:
            return counts[self._order]
        width = np.uint32 if top * self._count < 2**32 else np.int64
        if len(self.rows) == 1:
            return np.add.reduce(counts, axis=0, dtype=width, keepdims=True)
        return np.add.reduceat(counts[self._order], self._starts, axis=0, dtype=width)


def _alike(tables: Iterable[tuple[Table, Wholes]]) -> list[list[tuple[Table, Wholes]]]:
    """The tables that can be added as they lie, together."""
    found: dict[tuple[object, ...], list[tuple[Table, Wholes]]] = {}
    last: tuple[Table, Wholes] | None = None
    group: list[tuple[Table, Wholes]] = []
    for both in tables:
        table, to = both
        # Sheets in a row mostly share their arrays, whose bytes are then compared but once.
        if last is None or not _lie_alike(table, last[0]) or to is not last[1]:
            shape = (table.first, table.counts.shape, table.counts.dtype)
            group = found.setdefault((*shape, to[table.rows].tobytes()), [])
            last = both
        group.append(both)
    return list(found.values())


def _lie_alike(one: Table, other: Table) -> bool:
    mine, theirs = one.counts, other.counts
    same = one.rows is other.rows and one.first == other.first
    return same and mine.shape == theirs.shape and mine.dtype == theirs.dtype


def _added(parts: Sequence[tuple[Narrow, int]]) -> Wholes:
    """The sum of arrays of one width, each with the most that any of its numbers is."""
    first = parts[0][0]
    if len(parts) == 1:
        return first.astype(np.int64)
    if first.dtype not in _WIDER:
        whole: Wholes = np.sum([sums for sums, _ in parts], axis=0)
        return whole
    wider = _WIDER[first.dtype]
    return _added([(sums.astype(wider), held) for sums, held in _narrow(parts)])


def _narrow(parts: Iterable[tuple[Narrow, int]]) -> Iterator[tuple[Narrow, int]]:
    """Sums in the width of the parts, each of as many as that width surely holds."""
    sums, held, limit = None, 0, 0
    for counts, top in parts:
        if sums is not None and held + top > limit:
            held = int(sums.max())
        if sums is not None and held + top <= limit:
            np.add(sums, counts, sums)
            held += top
            continue
        if sums is not None:
            yield sums, held
        sums, held, limit = counts.copy(), top, int(np.iinfo(counts.dtype.str).max)
    if sums is not None:
        yield sums, held


def _sorted(listed: Sequence[tuple[Entries, Wholes]]) -> Entries:
    if not listed:
        return NO_ENTRIES
    place = np.concatenate([to[one.row] * BUCKETS + one.bucket for one, to in listed])
    order = np.argsort(place, kind="stable")
    place = place[order]
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    count = np.add.reduceat(np.concatenate([one.count for one, _ in listed])[order], first)
    return Entries(place[first] // BUCKETS, place[first] % BUCKETS, count)


def _range_of_all(
    tables: Sequence[Sequence[tuple[Table, Wholes]]], listed: Sequence[tuple[Entries, Wholes]]
) -> tuple[int, int]:
    ends = [(some[0][0].first, some[0][0].last) for some in tables]
    ends += [_range_of(one) for one, _ in listed]
    return min((first for first, _ in ends), default=0), max((last for _, last in ends), default=0)


def _range_of(entries: Entries) -> tuple[int, int]:
    inside = np.where(entries.bucket < OVERFLOW, entries.bucket, -1)
    last = int(inside.max()) + 1
    return (int(entries.bucket.min()), last) if last else (OVERFLOW, 0)


def _width_of(top: int) -> np.dtype[Any]:
    return next(width for width in _WIDER if top <= np.iinfo(width.str).max)
