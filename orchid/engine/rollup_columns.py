"""Sums as columns of numbers, one row a cell: what is merged and read by the million.

The same content as `rollup.Sums` by cell, and merged to the same digit. Counts have 64 bits. Totals
of figures, demand and money have 64 bits too, or are Python's own whole numbers in the columns
where 64 bits might not hold a sum.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchid.engine.histogram import OVERFLOW
from orchid.engine.rollup import EXACT, TEU_STEP, USD_STEP, Figure, Sums

Wholes = NDArray[np.int64]
#: 64 bits, or Python's own whole numbers.
Parts = NDArray[Any]

#: The places of counters in a row. Only ever appended to: sheets of years ago are read with it.
COUNTER_ORDER = (
    "offered",
    "eligible",
    "admitted",
    "latency_counted",
    "completed",
    "policy_valid",
    "deadline_valid",
    "technical_success",
    "safely_served",
    "inter_token_counted",
    "fallback",
    "rejected",
    "cancelled",
    "timed_out",
    "failed",
    "truncated",
    "lost",
    "bounded",
    "early_terminated",
    "deferred",
    "ineligible",
    "violation",
    "unpriced",
    "manifest_mismatch",
    "validator_stopped",
    "escalated",
)
PLACE_OF = {name: place for place, name in enumerate(COUNTER_ORDER)}
_BUCKETS = OVERFLOW + 1
_MOST = 2**63 - 1
#: So many numbers are added in a table rather than sorted.
_MOST_IN_TABLE = 1 << 23


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of sums: `cell` names each, the same one perhaps several times.

    Two-dimensional columns are [row, place], places being those of COUNTER_ORDER, `bounds` and
    `figures`. A histogram is the entries (`in_row`, `bucket`, `count`) of its row. Money and demand
    are in whole steps of `rollup`. `more` has counters that this program does not know yet.
    """

    cell: Wholes
    records: Wholes
    counters: Wholes
    bounds: tuple[str, ...]
    within: Wholes
    judged: Wholes
    figures: tuple[str, ...]
    counts: Wholes
    totals: Parts
    maxima: Parts
    teu: Parts
    usd: Parts
    in_row: Wholes
    bucket: Wholes
    count: Wholes
    more: tuple[tuple[int, str, int], ...] = ()


def columns_of(sheet: Mapping[int, Sums]) -> Columns:
    """Sums by cell as columns, in order of the cells; what is 0 everywhere has no column."""
    cells = sorted(sheet)
    rows = [sheet[cell] for cell in cells]
    bounds = tuple(sorted({key for one in rows for key in chain(+one.judged, +one.within)}))
    figures = tuple(sorted({n for one in rows for n, f in one.figures.items() if f.count}))
    none = Figure()
    known = [[one.figures.get(name, none) for name in figures] for one in rows]
    entries = [
        (row, bucket, count)
        for row, one in enumerate(rows)
        for bucket, count in sorted(one.histogram.items())
        if count
    ]
    in_row, bucket, count = _wholes(entries, 3).T
    return Columns(
        np.array(cells, dtype=np.int64),
        np.array([one.records for one in rows], dtype=np.int64),
        _wholes([[one.counters.get(n, 0) for n in COUNTER_ORDER] for one in rows], len(PLACE_OF)),
        bounds,
        _wholes([[one.within.get(key, 0) for key in bounds] for one in rows], len(bounds)),
        _wholes([[one.judged.get(key, 0) for key in bounds] for one in rows], len(bounds)),
        figures,
        _wholes([[figure.count for figure in some] for some in known], len(figures)),
        _parts([[figure.total for figure in some] for some in known], len(figures)),
        _parts([[figure.maximum for figure in some] for some in known], len(figures)),
        _parts([[_steps(one.teu, TEU_STEP)] for one in rows], 1)[:, 0],
        _parts([[_steps(one.cost_usd, USD_STEP)] for one in rows], 1)[:, 0],
        in_row,
        bucket,
        count,
        tuple(
            (row, name, count)
            for row, one in enumerate(rows)
            for name, count in sorted(one.counters.items())
            if count and name not in PLACE_OF
        ),
    )


def sheet_of(columns: Columns) -> dict[int, Sums]:
    """The columns as sums by cell; rows of one cell are added up."""
    sheet: dict[int, Sums] = {}
    for cell, sums in zip(columns.cell.tolist(), sums_of(columns), strict=True):
        if cell in sheet:
            sheet[cell].merge(sums)
        else:
            sheet[cell] = sums
    return sheet


def sums_of(columns: Columns) -> list[Sums]:
    """Each row as sums; what is 0 is left out."""
    starts = np.searchsorted(columns.in_row, np.arange(len(columns.cell) + 1)).tolist()
    buckets = list(zip(columns.bucket.tolist(), columns.count.tolist(), strict=True))
    found = [
        Sums(
            _named(COUNTER_ORDER, counters),
            Counter(dict(buckets[first:last])),
            _named(columns.bounds, within),
            _named(columns.bounds, judged),
            {
                name: Figure(count, total, top)
                for name, count, total, top in zip(columns.figures, *threes, strict=True)
                if count
            },
            _amount(teu, TEU_STEP),
            _amount(usd, USD_STEP),
            records,
        )
        for counters, within, judged, threes, teu, usd, records, first, last in zip(
            columns.counters.tolist(),
            columns.within.tolist(),
            columns.judged.tolist(),
            zip(
                columns.counts.tolist(),
                columns.totals.tolist(),
                columns.maxima.tolist(),
                strict=True,
            ),
            columns.teu.tolist(),
            columns.usd.tolist(),
            columns.records.tolist(),
            starts[:-1],
            starts[1:],
            strict=True,
        )
    ]
    for row, name, count in columns.more:
        found[row].counters[name] += count
    return found


def concatenated(parts: Sequence[Columns]) -> Columns:
    """The rows of all parts, one after the other."""
    bounds = tuple(sorted({key for part in parts for key in part.bounds}))
    figures = tuple(sorted({name for part in parts for name in part.figures}))
    before = np.cumsum([0, *(len(part.cell) for part in parts)]).tolist()
    return Columns(
        _joined([part.cell for part in parts]),
        _joined([part.records for part in parts]),
        _joined([part.counters for part in parts], len(COUNTER_ORDER)),
        bounds,
        _joined([_placed(part.within, part.bounds, bounds) for part in parts], len(bounds)),
        _joined([_placed(part.judged, part.bounds, bounds) for part in parts], len(bounds)),
        figures,
        _joined([_placed(part.counts, part.figures, figures) for part in parts], len(figures)),
        _joined([_placed(part.totals, part.figures, figures) for part in parts], len(figures)),
        _joined([_placed(part.maxima, part.figures, figures) for part in parts], len(figures)),
        _joined([part.teu for part in parts]),
        _joined([part.usd for part in parts]),
        _joined([part.in_row + n for part, n in zip(parts, before, strict=False)]),
        _joined([part.bucket for part in parts]),
        _joined([part.count for part in parts]),
        tuple(
            (row + n, name, count)
            for part, n in zip(parts, before, strict=False)
            for row, name, count in part.more
        ),
    )


class Groups:
    """Rows that share a number, brought together; `numbers` has each once, in order."""

    def __init__(self, of_row: Wholes) -> None:
        self.numbers, self.of_row = np.unique(of_row, return_inverse=True)
        self._order = np.argsort(self.of_row, kind="stable")
        self._first = np.searchsorted(self.of_row[self._order], np.arange(len(self.numbers)))

    def total(self, column: Parts) -> Parts:
        """The sum of each group, exact whatever it comes to."""
        if not len(self.numbers):
            return column[:0]
        if column.dtype != object and column.size and _largest(column) > _MOST // len(column):
            column = column.astype(object)
        return np.add.reduceat(column[self._order], self._first, axis=0)

    def most(self, column: Parts) -> Parts:
        """The largest of each group."""
        if not len(self.numbers):
            return column[:0]
        return np.maximum.reduceat(column[self._order], self._first, axis=0)


def regrouped(columns: Columns, numbers: Wholes) -> Columns:
    """Rows of equal number as one row, which has that number for its cell; in order of it."""
    groups = Groups(numbers)
    in_row, bucket, count = merged_histograms(
        groups.of_row[columns.in_row], columns.bucket, columns.count, len(groups.numbers)
    )
    more: Counter[tuple[int, str]] = Counter()
    for row, name, n in columns.more:
        more[int(groups.of_row[row]), name] += n
    return Columns(
        groups.numbers,
        groups.total(columns.records),
        groups.total(columns.counters),
        columns.bounds,
        groups.total(columns.within),
        groups.total(columns.judged),
        columns.figures,
        groups.total(columns.counts),
        groups.total(columns.totals),
        groups.most(columns.maxima),
        groups.total(columns.teu),
        groups.total(columns.usd),
        in_row,
        bucket,
        count,
        tuple((row, name, n) for (row, name), n in sorted(more.items())),
    )


def merged_histograms(
    row: Wholes, bucket: Wholes, count: Wholes, rows: int
) -> tuple[Wholes, Wholes, Wholes]:
    """Entries of equal row and bucket as one, in order of both."""
    place = row * _BUCKETS + bucket
    if rows * _BUCKETS <= min(_MOST_IN_TABLE, 4 * len(place)):
        table = np.zeros(rows * _BUCKETS, dtype=np.int64)
        np.add.at(table, place, count)
        places = np.flatnonzero(table)
        counts = table[places]
    else:
        groups = Groups(place)
        places, counts = groups.numbers, groups.total(count)
    return places // _BUCKETS, places % _BUCKETS, counts


def _largest(column: Parts) -> int:
    return int(column.max())


def _wholes(rows: Sequence[Sequence[int]], width: int) -> Wholes:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


def _parts(rows: Sequence[Sequence[int]], width: int) -> Parts:
    """64 bits where they hold every number."""
    try:
        return _wholes(rows, width)
    except OverflowError:
        return np.array(rows, dtype=object).reshape(len(rows), width)


def _joined(columns: Sequence[Parts], width: int | None = None) -> Parts:
    if columns:
        return np.concatenate(columns)
    return np.zeros(0 if width is None else (0, width), dtype=np.int64)


def _placed(values: Parts, names: Sequence[str], wanted: Sequence[str]) -> Parts:
    """The columns of some names among those of all."""
    if tuple(names) == tuple(wanted):
        return values
    wide = np.zeros((len(values), len(wanted)), dtype=values.dtype)
    place = {name: n for n, name in enumerate(wanted)}
    wide[:, [place[name] for name in names]] = values
    return wide


def _named(names: Iterable[str], counts: Iterable[int]) -> Counter[str]:
    return Counter({name: n for name, n in zip(names, counts, strict=True) if n})


def _steps(amount: Decimal, step: Decimal) -> int:
    return int(EXACT.divide(amount, step))


def _amount(steps: int, step: Decimal) -> Decimal:
    return EXACT.multiply(Decimal(steps), step)
