"""Many histograms on the one grid, added up at the speed of memory.

A row is one histogram. Few samples are told by entries. Where many buckets of a range hold some, as
in dense traffic, the rows are a table of that range in the narrowest numbers, which is added up as
it lies: sums stay narrow while they surely hold, and are widened only then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchid.engine.histogram import OVERFLOW, rank_of, upper_edge_ms

Wholes = NDArray[np.int64]
Narrow = NDArray[Any]

BUCKETS = OVERFLOW + 1
#: A table begins and ends at multiples of so many buckets, so that neighbours in time lie alike.
_ROUNDED = 32
#: A table is worth its zeros where one in so many buckets is none.
_SPARSE = 3
#: So many numbers are added up in a table rather than sorted.
_MOST_IN_TABLE = 1 << 24
_LEVELS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))


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

    `beyond` has what the rows hold in OVERFLOW, which lies in no range; `top` is no less than any
    count.
    """

    rows: Wholes
    first: int
    counts: Narrow
    beyond: Wholes
    top: int


Histograms = Entries | Table
#: Histograms, and by row of theirs the row that it is added to.
Placed = tuple[Histograms, Wholes]


def entries_of(histograms: Histograms) -> Entries:
    """The same as entries."""
    if isinstance(histograms, Entries):
        return histograms
    place, column = np.nonzero(histograms.counts)
    beyond = np.flatnonzero(histograms.beyond)
    row = np.concatenate([histograms.rows[place], histograms.rows[beyond]])
    bucket = np.concatenate([column + histograms.first, np.full(len(beyond), OVERFLOW)])
    count = np.concatenate(
        [histograms.counts[place, column].astype(np.int64), histograms.beyond[beyond]]
    )
    order = np.lexsort((bucket, row))
    return Entries(row[order], bucket[order], count[order])


def table_of(entries: Entries) -> Table | None:
    """The same as a table; None where that would mostly hold zeros, or what no width holds."""
    inside = entries.bucket < OVERFLOW
    bucket, count = entries.bucket[inside], entries.count[inside]
    if not len(bucket) or int(count.max()) >= 2**32:
        return None
    rows, place = np.unique(entries.row, return_inverse=True)
    first = int(bucket.min()) // _ROUNDED * _ROUNDED
    width = -(-(int(bucket.max()) + 1 - first) // _ROUNDED) * _ROUNDED
    if len(rows) * width > _SPARSE * len(bucket):
        return None
    top = int(count.max())
    counts = np.zeros((len(rows), width), dtype=_level_of(top))
    counts[place[inside], bucket - first] = count
    beyond = np.zeros(len(rows), dtype=np.int64)
    beyond[place[~inside]] = entries.count[~inside]
    return Table(rows, first, counts, beyond, top)


def summed(parts: Sequence[Placed], rows: int) -> Entries:
    """All histograms by the rows that they are added to, of which there are so many."""
    tables = [(one, to) for one, to in parts if isinstance(one, Table)]
    listed = [(one, to) for one, to in parts if isinstance(one, Entries) and len(one.row)]
    ends = [(one.first, one.first + one.counts.shape[1]) for one, _ in tables]
    ends += [_range_of(one) for one, _ in listed]
    first = min((first for first, _ in ends), default=0)
    last = max((last for _, last in ends), default=0)
    size = rows * max(0, last - first)
    if size > _MOST_IN_TABLE or (not tables and size > 4 * sum(len(e.row) for e, _ in listed)):
        return _sorted([(entries_of(one), to) for one, to in parts])
    whole = _Whole(rows, first, max(first, last))
    for table, to in tables:
        whole.add_table(table, to)
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
    """Sums of a range of buckets by row; what is beyond the grid stands apart."""

    def __init__(self, rows: int, first: int, last: int) -> None:
        self._first, self._shape = first, (rows, last - first)
        self._wide = np.zeros(self._shape, dtype=np.int64)
        self._beyond = np.zeros(rows, dtype=np.int64)
        # By width: sums so far, and the most that any of them can be.
        self._narrow: dict[int, tuple[Narrow, int]] = {}

    def add_entries(self, entries: Entries, to: Wholes) -> None:
        inside = entries.bucket < OVERFLOW
        row = to[entries.row]
        place = row[inside] * self._shape[1] + entries.bucket[inside] - self._first
        np.add.at(self._wide.reshape(-1), place, entries.count[inside])
        np.add.at(self._beyond, row[~inside], entries.count[~inside])

    def add_table(self, table: Table, to: Wholes) -> None:
        """Rows of one table that go to the same row are added one after the other."""
        row = to[table.rows]
        np.add.at(self._beyond, row, table.beyond)
        level = _LEVELS.index(table.counts.dtype)
        first = table.first - self._first
        if len(row) == self._shape[0] and np.array_equal(row, np.arange(len(row))):
            self._add(level, first, table.counts, table.top)
        elif len(np.unique(row)) == len(row):
            self._add(level, first, table.counts, table.top, row)
        else:
            for one, counts in zip(row.tolist(), table.counts, strict=True):
                self._wide[one, first : first + len(counts)] += counts

    def entries(self) -> Entries:
        for level in range(len(_LEVELS)):
            self._widen(level)
        row, column = np.nonzero(self._wide)
        if not self._beyond.any():
            return Entries(row, column + self._first, self._wide[row, column])
        beyond = np.flatnonzero(self._beyond)
        row, column = np.append(row, beyond), np.append(column + self._first, beyond * 0 + OVERFLOW)
        order = np.argsort(row, kind="stable")
        count = np.append(self._wide[self._wide != 0], self._beyond[beyond])
        return Entries(row[order], column[order], count[order])

    def _add(
        self, level: int, first: int, counts: Narrow, top: int, row: Wholes | None = None
    ) -> None:
        """Add in the width that the counts have, after widening what might not hold them too."""
        if level == len(_LEVELS):
            self._wide += counts
            return
        limit = int(np.iinfo(_LEVELS[level]).max)
        if self._narrow.get(level, (None, 0))[1] + top > limit:
            self._widen(level)
        if level not in self._narrow:
            self._narrow[level] = np.zeros(self._shape, dtype=_LEVELS[level]), 0
        sums, held = self._narrow[level]
        some = sums[:, first : first + counts.shape[1]]
        if row is None:
            np.add(some, counts, out=some)
        else:
            some[row] += counts
        self._narrow[level] = sums, held + top

    def _widen(self, level: int) -> None:
        sums, held = self._narrow.pop(level, (None, 0))
        if sums is not None:
            self._add(level + 1, 0, sums, held)


def _sorted(listed: Sequence[tuple[Entries, Wholes]]) -> Entries:
    if not listed:
        return NO_ENTRIES
    place = np.concatenate([to[one.row] * BUCKETS + one.bucket for one, to in listed])
    order = np.argsort(place, kind="stable")
    place = place[order]
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    count = np.add.reduceat(np.concatenate([one.count for one, _ in listed])[order], first)
    return Entries(place[first] // BUCKETS, place[first] % BUCKETS, count)


def _range_of(entries: Entries) -> tuple[int, int]:
    inside = entries.bucket[entries.bucket < OVERFLOW]
    return (int(inside.min()), int(inside.max()) + 1) if len(inside) else (OVERFLOW, 0)


def _level_of(top: int) -> np.dtype[Any]:
    return next(level for level in _LEVELS if top <= np.iinfo(level).max)
