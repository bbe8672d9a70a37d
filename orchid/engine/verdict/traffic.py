"""What was counted in one window added up for scopes, with evidence coverage applied."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from orchid.engine.histograms import BUCKETS, Entries, entries_of, percentile_of
from orchid.engine.rollup import EXACT, TEU_STEP, USD_STEP
from orchid.engine.rollup_columns import COUNTER_ORDER, PLACE_OF, Parts, Wholes
from orchid.engine.segments import Where
from orchid.engine.selector_index import SelectorIndex, positions
from orchid.engine.verdict.counted import BLOCK_POPULATIONS, Counted
from orchid.engine.verdict.coverage import SERVED, Coverage
from orchid.engine.verdict.evidence import Item
from orchid.engine.verdict.utility import Cell

__all__ = [
    "LATENCY_POPULATIONS",
    "SERVED",
    "Block",
    "ByBlock",
    "Coverage",
    "Totals",
    "total_of",
    "totals_of",
]

Mask = NDArray[np.bool_]

#: What the bounds of latency gates are shares of.
LATENCY_POPULATIONS = ("latency_counted", "inter_token_counted")
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
    """A scope's counts by time block, in order of time: [block], [block, place].

    There is a row for every block in which any request was counted, be it of another scope, so that
    scopes of one window are told by the same blocks.
    """

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

    def percentile_ms(self, quantile: float) -> float | None:
        """The nearest-rank percentile at its bucket's upper edge; None when there is no sample."""
        return percentile_of(self.buckets, self.counts, quantile)

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
    found = _found(counted, coverage)
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
            _items(found[m] for m in some if m in found and cells[m].responses),
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
    ends = 2 + len(LATENCY_POPULATIONS)
    return ByBlock(times, rows[:, 0], rows[:, 1], rows[:, 2:ends], rows[:, ends:])


def _found(counted: Counted, coverage: Coverage) -> dict[int, tuple[Item, ...]]:
    """By place of a cell what suites found against it; mostly nothing."""
    told = ((place, coverage.told(name).found) for place, name in enumerate(counted.cells))
    return {place: items for place, items in told if items}


def _items(found: Iterable[tuple[Item, ...]]) -> tuple[Item, ...]:
    """Once each, in the order of the cells."""
    return tuple({item.digest: item for items in found for item in items}.values())


def _whole(parts: Parts, places: Iterable[int]) -> int:
    values = parts.tolist()
    return sum(values[place] for place in places)


def _named(names: Sequence[str], counts: Wholes) -> dict[str, int]:
    return {name: n for name, n in zip(names, counts.tolist(), strict=True) if n}
