"""A day of histograms by minute and segment as one: 1,440 x 200 x 400 counts, and by the hour.

The floor is reading the same bytes once, sheet by sheet where they lie: nothing that sums them can
be faster. What is measured is the function with which gates read windows, given the tables as
sheets hold them.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from benchmarks.line import Against, Line
from benchmarks.rounds import interleaved, seconds
from orchid.engine.histograms import Entries, Placed, Table, summed, table_of

SEGMENTS, BUCKETS, FIRST_BUCKET = 200, 400, 640
MINUTES, HOURS = 24 * 60, 24
#: A request in most buckets of a segment's minute: 92 million requests a day.
A_MINUTE = 0.8


def run(smoke: bool) -> Iterable[Line]:
    """Merging by minutes and by hours, each against reading the same bytes."""
    minutes, rounds = (20, 2) if smoke else (MINUTES, 15)
    dice = np.random.default_rng(7)
    every = _sheets(dice, minutes, A_MINUTE)
    hourly = _sheets(dice, 2 if smoke else HOURS, A_MINUTE * 60)
    _check(every)
    yield _line("minutes", every, rounds)
    yield _line("hours", hourly, rounds)


def _line(what: str, parts: list[Placed], rounds: int) -> Line:
    words = [table.counts.reshape(-1).view(np.uint64) for table in _tables(parts)]
    found = interleaved(
        {
            "merge": seconds(lambda: summed(parts, SEGMENTS)),
            "floor": seconds(lambda: [np.add.reduce(some) for some in words]),
        },
        rounds,
    )
    return Line(
        f"merging {len(parts):,} {what} of {SEGMENTS} segments with {BUCKETS} buckets",
        found["merge"].median * 1e3,
        "ms",
        Against("reading their bytes once", found["floor"].median * 1e3),
        "<= 1.5" if what == "minutes" else None,
        found["merge"].spread,
        _note(parts),
    )


def _note(parts: list[Placed]) -> str:
    tables = _tables(parts)
    size = sum(table.counts.nbytes for table in tables) / 1e6
    requests = sum(int(table.counts.sum(dtype=np.int64)) for table in tables)
    return f"{size:.0f} MB as {tables[0].counts.dtype}; {requests:,} requests"


def _sheets(dice: np.random.Generator, sheets: int, mean: float) -> list[Placed]:
    """The tables of sheets of the same cells, as they are read."""
    rows = np.arange(SEGMENTS)
    return [(replace(_table(dice, mean), rows=rows), rows) for _ in range(sheets)]


def _table(dice: np.random.Generator, mean: float) -> Table:
    """One sheet's histograms in the form that the product stores them in."""
    drawn = dice.poisson(mean, (SEGMENTS, BUCKETS))
    row, bucket = np.nonzero(drawn)
    table = table_of(Entries(row, bucket + FIRST_BUCKET, drawn[row, bucket]))
    if table is None or table.counts.shape != (SEGMENTS, BUCKETS + 1):
        raise ValueError("traffic this dense is stored as a table")
    return table


def _tables(parts: list[Placed]) -> list[Table]:
    return [one for one, _ in parts if isinstance(one, Table)]


def _check(parts: list[Placed]) -> None:
    found = summed(parts, SEGMENTS)
    whole = np.zeros((SEGMENTS, BUCKETS), dtype=np.int64)
    whole[found.row, found.bucket - FIRST_BUCKET] = found.count
    expected = sum(table.counts[:, :-1].astype(np.int64) for table in _tables(parts))
    if not np.array_equal(whole, expected):
        raise ValueError("the merged histograms are not the sum of the sheets")
