"""What was counted in one window, as columns: the form in which traffic is judged.

Everything is a whole number or an exact decimal and is added up by cell, so that the order and the
batching of what was counted change nothing. Beside the sums of the window a judgement needs the
populations by blocks of time (for the design effect). How long a block is depends on the window and
its step alone and never on how rows are stored, so that a judgement is the same before the rows
were merged, after that, and from their hours.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, Protocol

import numpy as np

from orchid.engine.rollup import Figure, Sums
from orchid.engine.rollup_columns import (
    COUNTER_ORDER,
    PLACE_OF,
    Columns,
    Groups,
    Parts,
    Wholes,
    columns_of,
    concatenated,
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
        columns: Columns,
        at_s: Wholes,
        window: tuple[datetime, datetime, int],
        *,
        by_step: bool = False,
    ) -> "Counted":
        """From rows of which `cell` is the place in `names` (each once) and `at_s` the time."""
        start, end, step_s = window
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        place = rank[columns.cell]
        length_s = step_s if by_step else block_length(start, end, step_s)
        by_cell = regrouped(columns, place)
        used = by_cell.cell
        cells = tuple(names[order[n]] for n in used.tolist())
        dense = np.searchsorted(used, place)
        by_cell = _trimmed(replace(by_cell, cell=np.arange(len(used))))
        kept = [columns.bounds.index(key) for key in by_cell.bounds]
        blocks = _blocks(
            length_s,
            at_s,
            dense,
            columns.counters[:, _BLOCK_PLACES],
            columns.within[:, kept],
        )
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
        parts: list[tuple[int, Sums]] = []
        at_s: list[int] = []
        for row in rows:
            name = CellName(segment_key(row.dims), row.route, row.manifest)
            parts.append((names.setdefault(name, len(names)), _sums(row)))
            at_s.append(_seconds(row.step_at))
        columns = columns_of({n: sums for n, (_, sums) in enumerate(parts)})
        cell = np.array([place for place, _ in parts], dtype=np.int64)
        window = (start, end, step // timedelta(seconds=1))
        times = np.array(at_s, dtype=np.int64)
        return cls.of_columns(
            list(names), replace(columns, cell=cell), times, window, by_step=by_step
        )

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
        rows = [replace(p.columns, cell=to) for p, to in zip(parts, own, strict=True)]
        columns = concatenated(rows)
        by_cell = regrouped(columns, columns.cell)
        length_s = max(block_length(start, end, step_s), *(p.blocks.length_s for p in parts))
        return cls(
            start, end, step_s, tuple(cells), by_cell, _joined(parts, own, by_cell, length_s)
        )

    def of(self, population: str) -> Wholes:
        """How many requests of each cell the population holds."""
        return self.columns.counters[:, PLACE_OF[population]]

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

    def digest_parts(self) -> Iterator[bytes]:
        """Canonical bytes of all of it: equal for equal counts, however they came."""
        columns, blocks = self.columns, self.blocks
        known = [n for n in range(len(COUNTER_ORDER)) if columns.counters[:, n].any()]
        head = [
            self.start.astimezone(UTC).isoformat(),
            self.end.astimezone(UTC).isoformat(),
            self.step_s,
            self.cells,
            [COUNTER_ORDER[n] for n in known],
            columns.bounds,
            columns.figures,
            columns.more,
            blocks.length_s,
        ]
        yield json.dumps(head, separators=(",", ":")).encode()
        yield from _bytes_of(columns.records, columns.counters[:, known])
        yield from _bytes_of(columns.within, columns.judged, columns.counts)
        yield from _bytes_of(columns.in_row, columns.bucket, columns.count)
        yield from _bytes_of(blocks.at_s, blocks.cell, blocks.populations, blocks.within)
        for wide in (columns.totals, columns.maxima, columns.teu, columns.usd):
            yield json.dumps(wide.tolist(), separators=(",", ":")).encode()


def block_length(start: datetime, end: datetime, step_s: int) -> int:
    """Seconds of a block: ten minutes where the window holds eight of them, else a step."""
    block_s = BLOCK // timedelta(seconds=1)
    long_enough = (end - start) // BLOCK >= MINIMUM_BLOCKS
    return block_s if long_enough and step_s < block_s else step_s


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


def _joined(
    parts: Sequence[Counted], own: Sequence[Wholes], by_cell: Columns, length_s: int
) -> Blocks:
    within = []
    for part in parts:
        wide = np.zeros((len(part.blocks.cell), len(by_cell.bounds)), dtype=np.int64)
        wide[:, [by_cell.bounds.index(key) for key in part.columns.bounds]] = part.blocks.within
        within.append(wide)
    return _blocks(
        length_s,
        np.concatenate([part.blocks.at_s for part in parts]),
        np.concatenate([to[p.blocks.cell] for p, to in zip(parts, own, strict=True)]),
        np.concatenate([part.blocks.populations for part in parts]),
        np.concatenate(within),
    )


def _trimmed(columns: Columns) -> Columns:
    """Without bounds and figures that nothing was counted of."""
    bounds = np.flatnonzero((columns.within.any(axis=0)) | (columns.judged.any(axis=0))).tolist()
    figures = np.flatnonzero(columns.counts.any(axis=0)).tolist()
    return replace(
        columns,
        bounds=tuple(columns.bounds[n] for n in bounds),
        within=columns.within[:, bounds],
        judged=columns.judged[:, bounds],
        figures=tuple(columns.figures[n] for n in figures),
        counts=columns.counts[:, figures],
        totals=columns.totals[:, figures],
        maxima=columns.maxima[:, figures],
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


def _bytes_of(*columns: Parts) -> Iterator[bytes]:
    for column in columns:
        yield np.ascontiguousarray(column, dtype="<i8").tobytes()
