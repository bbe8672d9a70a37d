"""What was counted in one window, as columns: the form in which traffic is judged.

Everything is a whole number or an exact decimal and is added up by cell, so that the order and the
batching of what was counted change nothing. Beside the sums of the window a judgement needs the
populations by blocks of time (for the design effect). How long a block is depends on the window and
its step alone and never on how rows are stored, so that a judgement is the same before the rows
were merged, after that, and from their hours.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, Protocol

import numpy as np

from orchid.engine.column_bytes import Reader, packed
from orchid.engine.histograms import entries_of
from orchid.engine.rollup import Figure, Sums
from orchid.engine.rollup_bytes import UnknownVersionError, read, spelled
from orchid.engine.rollup_columns import (
    PLACE_OF,
    Columns,
    Groups,
    Wholes,
    columns_of,
    joined,
    placed,
    regrouped,
    sums_of,
)
from orchid.engine.rollup_hour import BLOCK
from orchid.engine.segments import dims_of, segment_key

#: What is kept by block of time, beside who kept each bound.
BLOCK_POPULATIONS = (
    "eligible",
    "technical_success",
    "fallback",
    "latency_counted",
    "inter_token_counted",
)
#: A window that holds so many blocks of ten minutes is told by them, a shorter one by its steps.
MINIMUM_BLOCKS = 8
BLOCK_S = BLOCK // timedelta(seconds=1)
_VERSION = 1
_BLOCK_PLACES = [PLACE_OF[name] for name in BLOCK_POPULATIONS]


class CellName(NamedTuple):
    """A combination of dimensions, route and manifest, or else a tenant."""

    dims_key: str
    route: str
    manifest: str
    tenant: str = ""

    @property
    def dims(self) -> dict[str, str]:
        """The values of the dimensions by name."""
        return dims_of(self.dims_key)


class Row(Protocol):
    """One step's counts for one cell."""

    step_at: datetime
    dims: dict[str, str]
    route: str
    manifest: str
    counters: dict[str, int]
    histogram: dict[int, int]
    within: dict[str, int]
    judged: dict[str, int]
    figures: dict[str, Figure]
    teu: Decimal
    cost_usd: Decimal
    records: int


class CellSums(NamedTuple):
    """One cell with what was counted for it in the whole window; what is 0 is left out."""

    name: CellName
    dims: dict[str, str]
    counters: dict[str, int]
    histogram: dict[int, int]
    within: dict[str, int]
    judged: dict[str, int]
    figures: dict[str, Figure]
    teu: Decimal
    cost_usd: Decimal
    records: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Populations by block of time and cell; only those that hold any request.

    `at_s` is the block's start in seconds since 1970 and `cell` the place in `Counted.cells`, in
    order of both; `populations` is [entry, BLOCK_POPULATIONS], `within` [entry, bound].
    """

    length_s: int
    at_s: Wholes
    cell: Wholes
    populations: Wholes
    within: Wholes


class Timed(NamedTuple):
    """Columns with the start of each row's step or block, in seconds since 1970."""

    columns: Columns
    at_s: Wholes


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What was counted in start <= step < end, by cell, in order of the cells' names.

    Row n of `columns` is cell n. `blocks` has the length that `block_length` gives, or one step
    where a series was asked for.
    """

    start: datetime
    end: datetime
    step_s: int
    cells: tuple[CellName, ...]
    columns: Columns
    blocks: Blocks

    @classmethod
    def of_columns(
        cls,
        names: Sequence[CellName],
        parts: Sequence[Timed],
        window: tuple[datetime, datetime, int],
        *,
        by_step: bool = False,
    ) -> "Counted":
        """From columns of which `cell` is the place in `names`, each name once.

        `window` is start, end and the seconds of a step.
        """
        start, end, step_s = window
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        places = [rank[part.columns.cell] for part in parts]
        by_cell = regrouped([part.columns for part in parts], places)
        length_s = step_s if by_step else block_length(start, end, step_s)
        to = [np.searchsorted(by_cell.cell, some) for some in places]
        blocks = _blocks_of(parts, to, by_cell.bounds, length_s)
        cells = tuple(names[order[n]] for n in by_cell.cell.tolist())
        by_cell = replace(by_cell, cell=np.arange(len(cells)))
        return cls(start, end, step_s, cells, by_cell, blocks)

    @classmethod
    def of_rows(
        cls,
        rows: Iterable[Row],
        start: datetime,
        end: datetime,
        step: timedelta,
        *,
        by_step: bool = False,
    ) -> "Counted":
        """From rows of steps, in whatever order and in however many parts."""
        names: dict[CellName, int] = {}
        sheet: dict[int, Sums] = {}
        cell: list[int] = []
        at_s: list[int] = []
        for row in rows:
            name = CellName(segment_key(row.dims), row.route, row.manifest)
            cell.append(names.setdefault(name, len(names)))
            at_s.append(_seconds(row.step_at))
            sheet[len(sheet)] = _sums(row)
        columns = replace(columns_of(sheet), cell=np.array(cell, dtype=np.int64))
        part = Timed(columns, np.array(at_s, dtype=np.int64))
        window = (start, end, step // timedelta(seconds=1))
        return cls.of_columns(list(names), [part], window, by_step=by_step)

    @classmethod
    def empty(cls, start: datetime, end: datetime, step: timedelta) -> "Counted":
        """Nothing was counted."""
        return cls.of_rows((), start, end, step)

    @classmethod
    def merged(cls, parts: Sequence["Counted"]) -> "Counted":
        """Several as one, from the first start to the last end; associative and commutative.

        Raises ValueError without parts, or where their steps differ.
        """
        steps = {part.step_s for part in parts}
        if len(steps) != 1:
            raise ValueError(f"one step can be merged, not {sorted(steps)}")
        start, end = min(p.start for p in parts), max(p.end for p in parts)
        step_s = steps.pop()
        cells = sorted({name for part in parts for name in part.cells})
        place = {name: n for n, name in enumerate(cells)}
        own = [np.array([place[n] for n in p.cells], dtype=np.int64) for p in parts]
        by_cell = regrouped([part.columns for part in parts], own)
        length_s = max(block_length(start, end, step_s), *(p.blocks.length_s for p in parts))
        blocks = _of_all(parts, own, by_cell.bounds, length_s)
        return cls(start, end, step_s, tuple(cells), by_cell, blocks)

    def of(self, population: str) -> Wholes:
        """How many requests of each cell the population holds."""
        return self.columns.counters[:, PLACE_OF[population]]

    @property
    def eligible_by_block(self) -> Wholes:
        """Eligible requests by entry of `blocks`."""
        return self.blocks.populations[:, BLOCK_POPULATIONS.index("eligible")]

    def total(self, population: str) -> int:
        """How many requests of all cells the population holds."""
        return int(self.of(population).sum())

    def sums(self) -> list[CellSums]:
        """Cell by cell, for those who read one after the other."""
        return [
            CellSums(
                name,
                name.dims,
                one.counters,
                one.histogram,
                one.within,
                one.judged,
                one.figures,
                one.teu,
                one.cost_usd,
                one.records,
            )
            for name, one in zip(self.cells, sums_of(self.columns), strict=True)
        ]

    def encoded(self) -> bytes:
        """The one spelling in bytes; equal content has equal bytes."""
        given, matrices = spelled(self.columns)
        blocks = self.blocks
        head = [
            _VERSION,
            _epoch_us(self.start),
            _epoch_us(self.end),
            self.step_s,
            blocks.length_s,
            [tuple(cell) for cell in self.cells],
            given,
        ]
        at = np.diff(blocks.at_s, prepend=0)
        return packed(head, [*matrices, at, blocks.cell, blocks.populations, blocks.within])

    @classmethod
    def decoded(cls, data: bytes) -> "Counted":
        """What `encoded` wrote. Raises UnknownVersionError for what another version wrote."""
        reader = Reader(data)
        version, start, end, step_s, length_s, names, given = reader.given
        if version != _VERSION:
            raise UnknownVersionError(f"counts have version {_VERSION}, not {version}")
        cells = tuple(CellName(*name) for name in names)
        columns = read(reader, given, np.arange(len(cells)))
        at_s = np.cumsum(reader.column(), dtype=np.int64)
        cell = reader.column().astype(np.int64)
        blocks = Blocks(length_s, at_s, cell, reader.matrix(), reader.matrix())
        columns = replace(columns, histogram=entries_of(columns.histogram))
        return cls(_moment(start), _moment(end), step_s, cells, columns, blocks)


def block_length(start: datetime, end: datetime, step_s: int) -> int:
    """Seconds of a block: ten minutes where the window holds eight of them, else a step."""
    long_enough = (end - start) // BLOCK >= MINIMUM_BLOCKS
    return BLOCK_S if long_enough and step_s < BLOCK_S else step_s


def _blocks(
    length_s: int, at_s: Wholes, cell: Wholes, populations: Wholes, within: Wholes
) -> Blocks:
    """Rows of equal block and cell as one, in order; without those that hold nothing."""
    cells = int(cell.max()) + 1 if len(cell) else 1
    groups = Groups(at_s // length_s * cells + cell)
    populations, within = groups.total(populations), groups.total(within)
    some = populations.any(axis=1) | within.any(axis=1)
    places = groups.numbers[some]
    return Blocks(
        length_s, places // cells * length_s, places % cells, populations[some], within[some]
    )


def _blocks_of(
    parts: Sequence[Timed], to: Sequence[Wholes], bounds: Sequence[str], length_s: int
) -> Blocks:
    return _blocks(
        length_s,
        joined([part.at_s for part in parts]),
        joined(to),
        joined([p.columns.counters[:, _BLOCK_PLACES] for p in parts], BLOCK_POPULATIONS),
        joined([placed(p.columns.within, p.columns.bounds, bounds) for p in parts], bounds),
    )


def _of_all(
    parts: Sequence[Counted], own: Sequence[Wholes], bounds: Sequence[str], length_s: int
) -> Blocks:
    return _blocks(
        length_s,
        joined([part.blocks.at_s for part in parts]),
        joined([to[p.blocks.cell] for p, to in zip(parts, own, strict=True)]),
        joined([part.blocks.populations for part in parts]),
        joined([placed(p.blocks.within, p.columns.bounds, bounds) for p in parts]),
    )


def _sums(row: Row) -> Sums:
    return Sums(
        Counter(row.counters),
        Counter(row.histogram),
        Counter(row.within),
        Counter(row.judged),
        row.figures,
        row.teu,
        row.cost_usd,
        row.records,
    )


def _seconds(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def _epoch_us(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _moment(epoch_us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=epoch_us)
