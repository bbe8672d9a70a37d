"""Sums as few bytes: everything counted in one step, by the number of the cell it belongs to.

A sheet is one version byte and compressed columns (`column_bytes`), of which numpy reads thousands
of rows as fast as a few. What is 0 or absent takes next to no room, and names of bounds and figures
stand once a sheet. Where a sheet is made of few cells columns don't pay: those are rows (version
1), as all sheets once were.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import zstandard

from orchid.engine import rollup_bytes_1
from orchid.engine.column_bytes import Parts, Reader, packed
from orchid.engine.histograms import Entries, Histograms, Table, entries_of, table_of
from orchid.engine.rollup import Sums
from orchid.engine.rollup_columns import (
    COUNTER_ORDER,
    Columns,
    Wholes,
    columns_of,
    sheet_of,
)

__all__ = [
    "COUNTER_ORDER",
    "Sheet",
    "UnknownVersionError",
    "are_rows",
    "columns_in",
    "merged_sheets",
    "pack",
    "pack_columns",
    "unpack",
]

_VERSION = 2
_ROWS = 1
_LEVEL = 3
#: A sheet of fewer cells is written and read sooner as rows: most deltas are.
_FEW = 64

Sheet = dict[int, Sums]


class UnknownVersionError(ValueError):
    """The bytes were written by a later version of this program."""


def pack(sheet: Mapping[int, Sums]) -> bytes:
    """The sheet as bytes; equal sheets give equal bytes."""
    if len(sheet) < _FEW:
        return bytes([_ROWS]) + zlib.compress(rollup_bytes_1.spelled(sheet))
    return pack_columns(columns_of(sheet))


def pack_columns(columns: Columns) -> bytes:
    """The same from columns whose cells are in order, each once."""
    given, matrices = spelled(columns)
    cells = np.diff(columns.cell, prepend=0)
    return bytes([_VERSION]) + zstandard.compress(packed(given, [cells, *matrices]), _LEVEL)


def unpack(data: bytes) -> Sheet:
    """What `pack` was given."""
    return sheet_of(columns_in(data))


def columns_in(data: bytes) -> Columns:
    """The same as columns."""
    version = data[0] if data else 0
    if version == _ROWS:
        return columns_of(rollup_bytes_1.read(data[1:]))
    if version != _VERSION:
        raise UnknownVersionError(f"a sheet has version {_VERSION}, not {version}")
    reader = Reader(zstandard.decompress(data[1:]))
    cell = np.cumsum(reader.column(), dtype=np.int64)
    return read(reader, reader.given, cell)


def are_rows(data: bytes) -> bool:
    """Whether a sheet is stored as rows, which are read sooner as sums than as columns."""
    return data[:1] == bytes([_ROWS])


def merged_sheets(sheets: Iterable[Mapping[int, Sums]]) -> Sheet:
    """Any number of sheets as one, cell by cell."""
    whole: Sheet = {}
    for sheet in sheets:
        for cell, sums in sheet.items():
            whole.setdefault(cell, Sums()).merge(sums)
    return whole


def spelled(columns: Columns) -> tuple[list[Any], list[Parts]]:
    """A head and matrices from which `read` makes the same columns, but for the cells."""
    held = np.flatnonzero(columns.counters.any(axis=0))
    used = int(held[-1]) + 1 if len(held) else 0
    shape, histogram = _histogram(columns.histogram, len(columns.cell))
    given = [columns.bounds, columns.figures, columns.more, shape]
    sums = [columns.records, columns.counters[:, :used], columns.within, columns.judged]
    amounts = [columns.counts, columns.totals, columns.maxima, columns.teu, columns.usd]
    some = _any_row(amounts)
    return given, [*sums, np.diff(some, prepend=0), *(one[some] for one in amounts), *histogram]


def read(reader: Reader, given: list[Any], cell: Wholes) -> Columns:
    """The columns that `spelled` wrote, as rows of these cells."""
    bounds, figures, more, shape = given
    records, counters = reader.matrix()[:, 0], reader.matrix()
    within, judged = reader.matrix(), reader.matrix()
    some = np.cumsum(reader.column(), dtype=np.int64)
    counts, totals, maxima, teu, usd = (_spread(reader.matrix(), some, len(cell)) for _ in range(5))
    return Columns(
        cell,
        records,
        _of_width(counters, len(COUNTER_ORDER)),
        tuple(bounds),
        within,
        judged,
        tuple(figures),
        counts,
        totals,
        maxima,
        teu[:, 0],
        usd[:, 0],
        _histogram_in(reader, shape),
        tuple((row, name, count) for row, name, count in more),
    )


def _any_row(matrices: Sequence[Parts]) -> Wholes:
    """Rows that hold anything: of an hour, a cell's first block alone has figures."""
    held = [(one.reshape(len(one), -1) != 0).any(axis=1) for one in matrices if one.size]
    return np.flatnonzero(np.any(held, axis=0)) if held else np.zeros(0, dtype=np.int64)


def _spread(matrix: Parts, rows: Wholes, count: int) -> Parts:
    """The rows at their places among so many."""
    if len(rows) == count:
        return matrix
    wide = np.zeros((matrix.shape[1], count), dtype=matrix.dtype)
    wide[:, rows] = matrix.T
    return wide.T


def _of_width(matrix: Parts, width: int) -> Parts:
    """With columns of zeros behind, or without those that a later version appended."""
    wide = np.zeros((width, len(matrix)), dtype=np.int64)
    known = min(width, matrix.shape[1])
    wide[:known] = matrix.T[:known]
    return wide.T


def _histogram(histogram: Histograms, rows: int) -> tuple[list[int], list[Parts]]:
    """As a table where most of it is no zero, else distances between buckets and counts."""
    entries = entries_of(histogram)
    table = table_of(entries)
    if table is not None:
        shape = [table.first, table.counts.shape[1], table.top]
        return shape, [np.diff(table.rows, prepend=0), table.counts.reshape(-1)]
    starts = np.flatnonzero(np.diff(entries.row, prepend=-1))
    gaps = np.diff(entries.bucket, prepend=0)
    gaps[starts] = 0
    sizes = np.bincount(entries.row, minlength=rows)
    return [], [sizes, entries.bucket[starts], gaps, entries.count]


def _histogram_in(reader: Reader, shape: list[int]) -> Histograms:
    if shape:
        first, width, top = shape
        rows = np.cumsum(reader.column(), dtype=np.int64)
        return Table(rows, first, reader.column().reshape(-1, width), top)
    sizes, firsts = reader.column(), reader.column()
    gone = np.cumsum(reader.column(), dtype=np.int64)
    count = reader.column().astype(np.int64)
    row = np.repeat(np.arange(len(sizes)), sizes)
    some = sizes[sizes > 0].astype(np.int64)
    starts = np.cumsum(some) - some
    bucket = gone + np.repeat(firsts.astype(np.int64) - gone[starts], some)
    return Entries(row, bucket, count)
