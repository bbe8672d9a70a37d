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

from orchid.engine.histograms import Entries, Histograms, entries_of, summed
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
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of sums: `cell` names each, the same one perhaps several times.

    Two-dimensional columns are [row, place], places being those of COUNTER_ORDER, `bounds` and
    `figures`. Money and demand are in whole steps of `rollup`. `more` has counters that this
    program does not know yet, each with its row.
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
    histogram: Histograms
    more: tuple[tuple[int, str, int], ...] = ()


def columns_of(sheet: Mapping[int, Sums]) -> Columns:
    """Sums by cell as columns, in order of the cells; what is 0 everywhere has no column."""
    cells = sorted(sheet)
    rows = [sheet[cell] for cell in cells]
    bounds = tuple(sorted({key for one in rows for key in chain(+one.judged, +one.within)}))
    figures = tuple(sorted({n for one in rows for n, f in one.figures.items() if f.count}))
    none = Figure()
    known = [[one.figures.get(name, none) for name in figures] for one in rows]
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
        _entries([one.histogram for one in rows]),
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
    held = entries_of(columns.histogram)
    starts = np.searchsorted(held.row, np.arange(len(columns.cell) + 1)).tolist()
    buckets = list(zip(held.bucket.tolist(), held.count.tolist(), strict=True))
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
        return np.add.reduceat(column.T[..., self._order], self._first, axis=-1).T

    def most(self, column: Parts) -> Parts:
        """The largest of each group."""
        if not len(self.numbers):
            return column[:0]
        return np.maximum.reduceat(column.T[..., self._order], self._first, axis=-1).T


def regrouped(parts: Sequence[Columns], numbers: Sequence[Wholes]) -> Columns:
    """Rows of equal number as one row, which has that number for its cell; in order of it.

    `numbers` has one for each row of each part. Sums are associative and commutative, so that
    neither the order of the parts nor how rows are spread over them changes anything.
    """
    of_part = [len(some) for some in numbers]
    groups = Groups(joined(numbers))
    to = np.split(groups.of_row, np.cumsum(of_part)[:-1]) if parts else []
    bounds = tuple(sorted({key for part in parts for key in part.bounds}))
    figures = tuple(sorted({name for part in parts for name in part.figures}))

    def by_bound(columns: Iterable[Parts]) -> Parts:
        names = (part.bounds for part in parts)
        return joined([placed(*one, bounds) for one in zip(columns, names, strict=True)], bounds)

    def by_figure(columns: Iterable[Parts]) -> Parts:
        names = (part.figures for part in parts)
        return joined([placed(*one, figures) for one in zip(columns, names, strict=True)], figures)

    return Columns(
        groups.numbers,
        groups.total(joined([part.records for part in parts])),
        groups.total(joined([part.counters for part in parts], COUNTER_ORDER)),
        bounds,
        groups.total(by_bound(part.within for part in parts)),
        groups.total(by_bound(part.judged for part in parts)),
        figures,
        groups.total(by_figure(part.counts for part in parts)),
        groups.total(by_figure(part.totals for part in parts)),
        groups.most(by_figure(part.maxima for part in parts)),
        groups.total(joined([part.teu for part in parts])),
        groups.total(joined([part.usd for part in parts])),
        summed(
            [(p.histogram, rows) for p, rows in zip(parts, to, strict=True)], len(groups.numbers)
        ),
        _more(parts, to),
    )


def _more(parts: Sequence[Columns], to: Sequence[Wholes]) -> tuple[tuple[int, str, int], ...]:
    found: Counter[tuple[int, str]] = Counter()
    for part, rows in zip(parts, to, strict=True):
        for row, name, count in part.more:
            found[int(rows[row]), name] += count
    return tuple((row, name, count) for (row, name), count in sorted(found.items()))


def _entries(histograms: Sequence[Mapping[int, int]]) -> Entries:
    row = np.repeat(np.arange(len(histograms)), [len(one) for one in histograms])
    bucket = np.fromiter(chain.from_iterable(histograms), dtype=np.int64, count=len(row))
    counts = chain.from_iterable(one.values() for one in histograms)
    count = np.fromiter(counts, dtype=np.int64, count=len(row))
    order = np.lexsort((bucket, row))
    order = order[count[order] != 0]
    return Entries(row[order], bucket[order], count[order])


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


def joined(columns: Sequence[Parts], names: Sequence[str] | None = None) -> Parts:
    if columns:
        return np.concatenate([column.T for column in columns], axis=-1).T
    return np.zeros(0 if names is None else (0, len(names)), dtype=np.int64)


def placed(values: Parts, names: Sequence[str], wanted: Sequence[str]) -> Parts:
    """The columns of some names among those of all."""
    if tuple(names) == tuple(wanted):
        return values
    wide = np.zeros((len(wanted), len(values)), dtype=values.dtype)
    place = {name: n for n, name in enumerate(wanted)}
    wide[[place[name] for name in names]] = values.T
    return wide.T


def _named(names: Iterable[str], counts: Iterable[int]) -> Counter[str]:
    return Counter({name: n for name, n in zip(names, counts, strict=True) if n})


def _steps(amount: Decimal, step: Decimal) -> int:
    return int(EXACT.divide(amount, step))


def _amount(steps: int, step: Decimal) -> Decimal:
    return EXACT.multiply(Decimal(steps), step)
