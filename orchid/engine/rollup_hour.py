"""Hours above the steps: what is kept once the steps are dropped.

An hour keeps its populations and bounds by blocks of ten minutes, because the design effect of a
verdict is estimated from the shares of blocks. Histogram, figures, demand and money of a cell are
summed over the hour and stand in its first block. A block is one more cell in the hour's sheet:
the cell's number times eight, plus the place of the block.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from orchid.engine.histograms import NO_ENTRIES
from orchid.engine.rollup_bytes import Sheet
from orchid.engine.rollup_columns import Columns, Wholes, regrouped

HOUR = timedelta(hours=1)
BLOCK = timedelta(minutes=10)
_PLACES = 8


def hour_of(at: datetime) -> datetime:
    """The start of the hour of a moment, UTC."""
    return at.replace(minute=0, second=0, microsecond=0)


def folded(steps: Iterable[tuple[datetime, Columns]]) -> Columns:
    """The hour's columns from all of its steps, in whatever order they come."""
    held = [((at - hour_of(at)) // BLOCK, columns) for at, columns in steps]
    first: dict[int, int] = {}
    for place, columns in held:
        for cell in columns.cell.tolist():
            first[cell] = min(place, first.get(cell, place))
    counts = [(_counts(columns), columns.cell * _PLACES + place) for place, columns in held]
    amounts = [(_amounts(columns), _first_rows(columns.cell, first)) for _, columns in held]
    parts = counts + amounts
    return regrouped([columns for columns, _ in parts], [rows for _, rows in parts])


def cells_and_blocks(hour: Columns) -> tuple[Wholes, Wholes]:
    """Of each row of an hour: its cell, and the seconds from the hour to its block."""
    cell, place = np.divmod(hour.cell, _PLACES)
    return cell, place * (BLOCK // timedelta(seconds=1))


def blocks(hour_at: datetime, hour: Sheet) -> Iterator[tuple[datetime, Sheet]]:
    """The blocks of an hour's sheet as if each were a step, in order of time."""
    apart: dict[int, Sheet] = {}
    for key, sums in hour.items():
        cell, place = divmod(key, _PLACES)
        apart.setdefault(place, {})[cell] = sums
    for place in sorted(apart):
        yield hour_at + place * BLOCK, apart[place]


def _counts(columns: Columns) -> Columns:
    """The populations and bounds, which stay the block's own."""
    rows = len(columns.cell)
    nothing = np.zeros((rows, 0), dtype=np.int64)
    none = np.zeros(rows, dtype=np.int64)
    return replace(
        columns,
        figures=(),
        counts=nothing,
        totals=nothing,
        maxima=nothing,
        teu=none,
        usd=none,
        histogram=NO_ENTRIES,
    )


def _amounts(columns: Columns) -> Columns:
    """Everything else, which is summed over the hour."""
    rows = len(columns.cell)
    nothing = np.zeros((rows, 0), dtype=np.int64)
    return replace(
        columns,
        records=np.zeros(rows, dtype=np.int64),
        counters=np.zeros_like(columns.counters),
        bounds=(),
        within=nothing,
        judged=nothing,
        more=(),
    )


def _first_rows(cell: Wholes, first: dict[int, int]) -> Wholes:
    return np.array([one * _PLACES + first[one] for one in cell.tolist()], dtype=np.int64)
