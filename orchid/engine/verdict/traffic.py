"""What was counted in one window added up for scopes, with evidence coverage applied.

Rollups know technical success only. Whether it was a success depends on evidence, which comes and
goes: a cell (segment x route x manifest) counts when evidence covers it, and what a fallback served
counts only while the segment's floor is cleared.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.histograms import BUCKETS, Entries, entries_of
from orchid.engine.rollup import EXACT, TEU_STEP, USD_STEP
from orchid.engine.rollup_columns import COUNTER_ORDER, PLACE_OF, Parts, Wholes
from orchid.engine.segments import Selecting, Where
from orchid.engine.selector_index import SelectorIndex, positions
from orchid.engine.verdict.counted import BLOCK_POPULATIONS, CellName, Counted
from orchid.engine.verdict.evidence import Book, Item
from orchid.engine.verdict.utility import Cell, Scores, index_of

Mask = NDArray[np.bool_]

#: What the bounds of latency gates are shares of.
LATENCY_POPULATIONS = ("latency_counted", "inter_token_counted")
SERVED = ("completed", "bounded", "early_terminated")
#: Blocks whose sums are taken at once, which bounds the memory of a long window.
_AT_ONCE = 512


@dataclass(slots=True)
class Block:
    """One time block of a scope, for the design effect and the spread of cost."""

    eligible: int = 0
    successes: int = 0
    counted: dict[str, int] = field(default_factory=dict)
    """By the population that a latency gate speaks of."""
    within: dict[str, int] = field(default_factory=dict)

    def of(self, population: str) -> int:
        """How many requests of the block a latency gate's population holds."""
        return self.counted.get(population, 0)


@dataclass(frozen=True, eq=False)
class ByBlock:
    """A scope's time blocks in order, each with any request: [block], [block, place]."""

    at_s: Wholes
    eligible: Wholes
    successes: Wholes
    counted: Wholes
    """[block, LATENCY_POPULATIONS]"""
    within: Wholes
    """[block, bound]"""


@dataclass(frozen=True, eq=False)
class Totals:
    """A scope's traffic in one window. `judged` says how many requests were compared with a bound:
    fewer than its population are inexact."""

    populations: Wholes
    bounds: tuple[str, ...]
    kept: Wholes
    compared: Wholes
    buckets: Wholes
    counts: Wholes
    teu: Decimal
    cost_usd: Decimal
    successes: int
    by_block: ByBlock
    cells: list[Cell]
    found: tuple[Item, ...] = ()
    """What suites found in the very cells that served."""

    def of(self, population: str) -> int:
        """How many requests the population holds."""
        return int(self.populations[PLACE_OF[population]])

    @property
    def served(self) -> int:
        """Responses delivered as whole ones."""
        return sum(self.of(population) for population in SERVED)

    @cached_property
    def counters(self) -> dict[str, int]:
        """Populations by name, without those that are 0."""
        return _named(COUNTER_ORDER, self.populations)

    @cached_property
    def within(self) -> dict[str, int]:
        """By bound, how many requests kept it."""
        return _named(self.bounds, self.kept)

    @cached_property
    def judged(self) -> dict[str, int]:
        """By bound, how many requests were compared with it."""
        return _named(self.bounds, self.compared)

    @cached_property
    def histogram(self) -> dict[int, int]:
        """Completion times on the fixed grid."""
        return dict(zip(self.buckets.tolist(), self.counts.tolist(), strict=True))

    @cached_property
    def blocks(self) -> list[Block]:
        """The time blocks one by one."""
        by = self.by_block
        return [
            Block(
                eligible,
                successes,
                dict(zip(LATENCY_POPULATIONS, counted, strict=True)),
                _named(self.bounds, within),
            )
            for eligible, successes, counted, within in zip(
                by.eligible.tolist(),
                by.successes.tolist(),
                by.counted.tolist(),
                by.within,
                strict=True,
            )
        ]


Rule = TypeVar("Rule", bound=Selecting)


class Told(NamedTuple):
    """What evidence says of a cell; nothing covers it where it has no scores."""

    scores: Scores | None
    found: tuple[Item, ...]


class _Speaking(Generic[Rule]):
    """Which of some rules speaks for a request: `segments.most_specific`, for many requests."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._index = SelectorIndex([rule.where for rule in rules])
        self._sizes = sorted({len(rule.where) for rule in rules}, reverse=True)

    def of(self, dims: Mapping[str, str]) -> Rule | None:
        """The rule; None where none matches."""
        fitting = self._index.covering(dims)
        for size in self._sizes:
            found = fitting & self._index.of_size(size)
            if found:
                return self._rules[next(positions(found))]
        return None


class Coverage:
    """Which cells of a window's traffic the evidence covers, and what suites found in them."""

    def __init__(self, document: PolicyDocument, counted: Counted | None, book: Book) -> None:
        self._book = book
        self._floors = _Speaking(document.segments.floors)
        self._told: dict[CellName, Told] = {}
        self._of_floor: dict[int, list[Cell]] = {}
        if counted is not None:
            self._place(counted)
        self._missed = {id(f) for f in document.segments.floors if self._misses(f)}

    def scores(self, dims: Mapping[str, str], route: str, manifest: str) -> Scores | None:
        """The scores of the evidence that speaks for a cell; None when nothing covers it."""
        found = self._book.speaker(dims, route, manifest)
        return Scores(found.n, found.mean, found.spread) if found else None

    def told(self, name: CellName) -> Told:
        """What evidence says of a cell."""
        if name not in self._told:
            cell = (name.dims, name.route, name.manifest)
            self._told[name] = Told(self.scores(*cell), self._book.found(*cell))
        return self._told[name]

    def cells(self, counted: Counted) -> list[Cell]:
        """Every cell with its responses and its evidence, in the order of `counted`."""
        served = sum((counted.of(population) for population in SERVED[1:]), counted.of(SERVED[0]))
        return [
            Cell(
                f"{name.route or 'no route'} {name.dims_key or 'everything'}",
                responses,
                self.told(name).scores,
            )
            for name, responses in zip(counted.cells, served.tolist(), strict=True)
        ]

    def floor_cells(self, floor: Floor) -> list[Cell]:
        """The mix of the segment for which this floor, and no more specific one, speaks."""
        return self._of_floor.get(id(floor), [])

    def fallback_counts(self, dims: Mapping[str, str]) -> bool:
        """Whether the segment clears its floor, so that fallback answers count."""
        floor = self._floors.of(dims)
        return floor is None or id(floor) not in self._missed

    def _place(self, counted: Counted) -> None:
        for name, cell in zip(counted.cells, self.cells(counted), strict=True):
            floor = self._floors.of(name.dims)
            if floor is not None and cell.responses:
                self._of_floor.setdefault(id(floor), []).append(cell)

    def _misses(self, floor: Floor) -> bool:
        index = index_of(self.floor_cells(floor))
        return index is None or index < floor.min_utility


def total_of(counted: Counted, where: Where, coverage: Coverage) -> Totals:
    """Everything counted for the requests that the selector takes; `{}` takes the whole."""
    return totals_of(counted, [where], coverage)[0]


def totals_of(counted: Counted, wheres: Sequence[Where], coverage: Coverage) -> list[Totals]:
    """The same for many selectors at once."""
    members = _members(counted, wheres)
    columns, takes = counted.columns, _Takes(members, len(counted.cells))
    cells = coverage.cells(counted)
    covered = np.array([cell.scores is not None for cell in cells], dtype=np.bool_)
    fallback = _by_dims(counted, coverage.fallback_counts)
    successes = takes.total(
        _successes(counted.of("technical_success"), counted.of("fallback"), covered, fallback)
    )
    populations, kept = takes.total(columns.counters), takes.total(columns.within)
    compared = takes.total(columns.judged)
    histograms = takes.histograms(entries_of(columns.histogram))
    blocks = _by_block(counted, takes, covered, fallback)
    return [
        Totals(
            populations[n],
            columns.bounds,
            kept[n],
            compared[n],
            *histograms[n],
            EXACT.multiply(Decimal(_whole(columns.teu, some)), TEU_STEP),
            EXACT.multiply(Decimal(_whole(columns.usd, some)), USD_STEP),
            int(successes[n]),
            blocks[n],
            [cells[m] for m in some if cells[m].responses],
            _found(coverage, counted, [m for m in some if cells[m].responses]),
        )
        for n, some in enumerate(members)
    ]


def _members(counted: Counted, wheres: Sequence[Where]) -> list[list[int]]:
    """By selector, the places of the cells that it takes."""
    index = SelectorIndex(wheres)
    members: list[list[int]] = [[] for _ in wheres]
    taken: dict[str, list[int]] = {}
    for place, name in enumerate(counted.cells):
        if name.dims_key not in taken:
            taken[name.dims_key] = list(positions(index.covering(name.dims)))
        for n in taken[name.dims_key]:
            members[n].append(place)
    return members


class _Takes:
    """[selector, cell]: 1 where the selector takes the cell."""

    def __init__(self, members: Sequence[Sequence[int]], cells: int) -> None:
        starts = np.cumsum([0, *(len(some) for some in members)])
        places = np.array([place for some in members for place in some], dtype=np.int64)
        ones = np.ones(len(places), dtype=np.int64)
        self._matrix = csr_array((ones, places, starts), shape=(len(members), cells))

    def total(self, column: Wholes) -> Wholes:
        """By selector, the sum of a column, or of a matrix's columns, over the cells it takes."""
        return np.asarray(self._matrix.dot(column))

    def histograms(self, entries: Entries) -> list[tuple[Wholes, Wholes]]:
        """By selector, buckets and counts of the merged histograms of the cells it takes."""
        cells = self._matrix.shape[1]
        starts = np.searchsorted(entries.row, np.arange(cells + 1))
        shape = (cells, BUCKETS)
        merged = csr_array(
            self._matrix @ csr_array((entries.count, entries.bucket, starts), shape=shape)
        )
        merged.sort_indices()
        return [
            (merged.indices[first:last].astype(np.int64), merged.data[first:last])
            for first, last in pairwise(merged.indptr.tolist())
        ]


def _by_dims(counted: Counted, rule: Callable[[Mapping[str, str]], bool]) -> Mask:
    known = {key: rule(dims) for key, dims in {c.dims_key: c.dims for c in counted.cells}.items()}
    return np.array([known[cell.dims_key] for cell in counted.cells], dtype=np.bool_)


def _successes(technical: Wholes, fallback: Wholes, covered: Mask, counts: Mask) -> Wholes:
    """Technical successes of covered cells; without fallback answers where those don't count."""
    without = np.maximum(technical - fallback, 0)
    return np.where(covered, np.where(counts, technical, without), 0)


def _by_block(counted: Counted, takes: _Takes, covered: Mask, fallback: Mask) -> list[ByBlock]:
    blocks = counted.blocks
    known = {name: blocks.populations[:, n] for n, name in enumerate(BLOCK_POPULATIONS)}
    successes = _successes(
        known["technical_success"], known["fallback"], covered[blocks.cell], fallback[blocks.cell]
    )
    values = np.column_stack(
        [known["eligible"], successes, *(known[n] for n in LATENCY_POPULATIONS), blocks.within]
    )
    times, of_entry = np.unique(blocks.at_s, return_inverse=True)
    tables = []
    for first in range(0, max(1, len(times)), _AT_ONCE):
        width = min(_AT_ONCE, len(times) - first)
        some = slice(*np.searchsorted(of_entry, [first, first + width]))
        table = np.zeros((len(counted.cells), width, values.shape[1]), dtype=np.int64)
        table[blocks.cell[some], of_entry[some] - first] = values[some]
        flat = takes.total(table.reshape(len(table), width * values.shape[1]))
        tables.append(flat.reshape(len(flat), *table.shape[1:]))
    return [_blocks_of(times, rows) for rows in np.concatenate(tables, axis=1)]


def _blocks_of(times: Wholes, rows: Wholes) -> ByBlock:
    some = rows.any(axis=1)
    rows = rows[some]
    ends = 2 + len(LATENCY_POPULATIONS)
    return ByBlock(times[some], rows[:, 0], rows[:, 1], rows[:, 2:ends], rows[:, ends:])


def _found(coverage: Coverage, counted: Counted, places: Iterable[int]) -> tuple[Item, ...]:
    """Once each, in the order of the cells."""
    seen = (item for place in places for item in coverage.told(counted.cells[place]).found)
    return tuple({item.digest: item for item in seen}.values())


def _whole(parts: Parts, places: Iterable[int]) -> int:
    values = parts.tolist()
    return sum(values[place] for place in places)


def _named(names: Sequence[str], counts: Wholes) -> dict[str, int]:
    return {name: n for name, n in zip(names, counts.tolist(), strict=True) if n}
