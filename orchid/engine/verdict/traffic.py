"""Rollups of one window added up for a scope, with evidence coverage applied.

Rollups know technical success only. Whether it was a success depends on evidence, which comes and
goes: a cell (segment x route x manifest) counts when evidence covers it, and what a fallback served
counts only while the segment's floor is cleared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.histogram import merge_all
from orchid.engine.segments import Where, matches, most_specific, segment_key
from orchid.engine.verdict.utility import Cell, Scores, index_of

SERVED = ("completed", "bounded", "early_terminated")


class Row(Protocol):
    """One step's counts for one combination of dimensions, route and manifest."""

    step_at: datetime
    dims: dict[str, str]
    route: str
    manifest: str
    counters: dict[str, int]
    histogram: dict[int, int]
    within: dict[str, int]
    teu: Decimal
    cost_usd: Decimal


class Scored(Protocol):
    """One cell of evidence; newer evidence stands before older in a sequence."""

    @property
    def route(self) -> str: ...
    @property
    def manifest(self) -> str: ...
    @property
    def where(self) -> Where: ...
    @property
    def n(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def spread(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Block:
    """One time block of a scope, for the design effect and the spread of cost."""

    eligible: int
    successes: int
    latency_counted: int
    within: Mapping[str, int]


@dataclass(slots=True)
class Totals:
    """A scope's traffic in one window."""

    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    successes: int = 0
    blocks: list[Block] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def of(self, population: str) -> int:
        """How many requests the population holds."""
        return self.counters.get(population, 0)

    @property
    def served(self) -> int:
        """Responses delivered as whole ones."""
        return sum(self.of(population) for population in SERVED)


class Coverage:
    """Which cells of a window's traffic the evidence covers."""

    def __init__(
        self, document: PolicyDocument, rows: Sequence[Row], evidence: Sequence[Scored]
    ) -> None:
        self._document = document
        self._evidence: dict[tuple[str, str], list[Scored]] = {}
        for item in evidence:
            self._evidence.setdefault((item.route, item.manifest), []).append(item)
        self._scores: dict[tuple[str, str, str], Scores | None] = {}
        self._below = self._floors_missed(rows)

    def scores(self, dims: Mapping[str, str], route: str, manifest: str) -> Scores | None:
        """The scores of the most specific evidence for a cell; None when nothing covers it."""
        key = (segment_key(dims), route, manifest)
        if key not in self._scores:
            found = most_specific(self._evidence.get((route, manifest), []), dims)
            self._scores[key] = Scores(found.n, found.mean, found.spread) if found else None
        return self._scores[key]

    def successes(self, row: Row) -> int:
        """Technical successes of the row that evidence makes successes."""
        technical = row.counters.get("technical_success", 0)
        if self.scores(row.dims, row.route, row.manifest) is None:
            return 0
        floor = most_specific(self._document.segments.floors, row.dims)
        if floor is not None and id(floor) in self._below:
            return max(0, technical - row.counters.get("fallback", 0))
        return technical

    def cells(self, rows: Iterable[Row]) -> list[Cell]:
        """The observed mix of the rows, each cell with its evidence."""
        mix: dict[tuple[str, str, str], int] = {}
        dims: dict[str, dict[str, str]] = {}
        for row in rows:
            key = (segment_key(row.dims), row.route, row.manifest)
            dims[key[0]] = row.dims
            mix[key] = mix.get(key, 0) + sum(row.counters.get(name, 0) for name in SERVED)
        return [
            Cell(
                f"{route or 'no route'} {name or 'everything'}",
                count,
                self.scores(dims[name], route, manifest),
            )
            for (name, route, manifest), count in sorted(mix.items())
            if count
        ]

    def floor_cells(self, floor: Floor, rows: Iterable[Row]) -> list[Cell]:
        """The mix of the segment for which this floor, and no more specific one, speaks."""
        floors = self._document.segments.floors
        return self.cells(row for row in rows if most_specific(floors, row.dims) is floor)

    def _floors_missed(self, rows: Sequence[Row]) -> set[int]:
        missed = set()
        for floor in self._document.segments.floors:
            index = index_of(self.floor_cells(floor, rows))
            if index is None or index < floor.min_utility:
                missed.add(id(floor))
        return missed


def total_of(rows: Iterable[Row], where: Where, coverage: Coverage) -> Totals:
    """Everything counted for the requests that the selector takes; `{}` takes the whole."""
    chosen = [row for row in rows if matches(where, row.dims)]
    totals = Totals(
        counters=_added(row.counters for row in chosen),
        histogram=merge_all(row.histogram for row in chosen),
        within=_added(row.within for row in chosen),
        teu=sum((row.teu for row in chosen), Decimal(0)),
        cost_usd=sum((row.cost_usd for row in chosen), Decimal(0)),
        cells=coverage.cells(chosen),
        blocks=_blocks(chosen, coverage),
    )
    totals.successes = sum(block.successes for block in totals.blocks)
    return totals


def _blocks(rows: Sequence[Row], coverage: Coverage) -> list[Block]:
    steps: dict[datetime, list[Row]] = {}
    for row in rows:
        steps.setdefault(row.step_at, []).append(row)
    return [_block(steps[step_at], coverage) for step_at in sorted(steps)]


def _block(rows: Sequence[Row], coverage: Coverage) -> Block:
    counters = _added(row.counters for row in rows)
    return Block(
        eligible=counters.get("eligible", 0),
        successes=sum(coverage.successes(row) for row in rows),
        latency_counted=counters.get("latency_counted", 0),
        within=_added(row.within for row in rows),
    )


def _added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
