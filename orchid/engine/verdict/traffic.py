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

#: What the bounds of latency gates are shares of.
LATENCY_POPULATIONS = ("latency_counted", "inter_token_counted")
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
    judged: dict[str, int]
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


@dataclass(slots=True)
class Group:
    """All rows of one cell: a combination of dimensions, route and manifest."""

    dims: dict[str, str]
    route: str
    manifest: str
    rows: list[Row] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def served(self) -> int:
        """Responses delivered as whole ones."""
        return sum(self.counters.get(population, 0) for population in SERVED)


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


@dataclass(slots=True)
class Totals:
    """A scope's traffic in one window."""

    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    """By bound, how many requests were compared with it; fewer than its population are inexact."""
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


def grouped(rows: Iterable[Row]) -> list[Group]:
    """The rows by cell, in order of the cell's name; a cell's rows keep their order."""
    groups: dict[tuple[str, str, str], Group] = {}
    for row in rows:
        key = (segment_key(row.dims), row.route, row.manifest)
        if key not in groups:
            groups[key] = Group(row.dims, row.route, row.manifest)
        groups[key].rows.append(row)
        _add(groups[key].counters, row.counters)
    return [groups[key] for key in sorted(groups)]


class Coverage:
    """Which cells of a window's traffic the evidence covers."""

    def __init__(
        self, document: PolicyDocument, groups: Sequence[Group], evidence: Sequence[Scored]
    ) -> None:
        self._floors = document.segments.floors
        self._evidence: dict[tuple[str, str], list[Scored]] = {}
        for item in evidence:
            self._evidence.setdefault((item.route, item.manifest), []).append(item)
        self._missed = [floor for floor in self._floors if self._misses(floor, groups)]

    def scores(self, dims: Mapping[str, str], route: str, manifest: str) -> Scores | None:
        """The scores of the most specific evidence for a cell; None when nothing covers it."""
        found = most_specific(self._evidence.get((route, manifest), []), dims)
        return Scores(found.n, found.mean, found.spread) if found else None

    def cells(self, groups: Iterable[Group]) -> list[Cell]:
        """The observed mix, each cell with its evidence."""
        return [
            Cell(
                f"{group.route or 'no route'} {segment_key(group.dims) or 'everything'}",
                group.served,
                self.scores(group.dims, group.route, group.manifest),
            )
            for group in groups
            if group.served
        ]

    def floor_cells(self, floor: Floor, groups: Iterable[Group]) -> list[Cell]:
        """The mix of the segment for which this floor, and no more specific one, speaks."""
        return self.cells(g for g in groups if most_specific(self._floors, g.dims) is floor)

    def covers(self, group: Group) -> bool:
        """Whether evidence makes the cell's technical successes successes."""
        return self.scores(group.dims, group.route, group.manifest) is not None

    def fallback_counts(self, group: Group) -> bool:
        """Whether the segment clears its floor, so that fallback answers count."""
        floor = most_specific(self._floors, group.dims)
        return floor is None or all(floor is not missed for missed in self._missed)

    def _misses(self, floor: Floor, groups: Sequence[Group]) -> bool:
        index = index_of(self.floor_cells(floor, groups))
        return index is None or index < floor.min_utility


def total_of(groups: Iterable[Group], where: Where, coverage: Coverage) -> Totals:
    """Everything counted for the requests that the selector takes; `{}` takes the whole."""
    chosen = [group for group in groups if matches(where, group.dims)]
    rows = [row for group in chosen for row in group.rows]
    totals = Totals(
        histogram=merge_all(row.histogram for row in rows),
        teu=sum((row.teu for row in rows), Decimal(0)),
        cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
        cells=coverage.cells(chosen),
        blocks=_blocks(chosen, coverage),
    )
    for group in chosen:
        _add(totals.counters, group.counters)
    for row in rows:
        _add(totals.judged, row.judged)
    for block in totals.blocks:
        _add(totals.within, block.within)
        totals.successes += block.successes
    return totals


def _blocks(groups: Iterable[Group], coverage: Coverage) -> list[Block]:
    steps: dict[datetime, Block] = {}
    for group in groups:
        covered, fallback = coverage.covers(group), coverage.fallback_counts(group)
        for row in group.rows:
            block = steps.setdefault(row.step_at, Block())
            block.eligible += row.counters.get("eligible", 0)
            for population in LATENCY_POPULATIONS:
                _add(block.counted, {population: row.counters.get(population, 0)})
            _add(block.within, row.within)
            if covered:
                block.successes += _successes(row, fallback)
    return [steps[step_at] for step_at in sorted(steps)]


def _successes(row: Row, fallback_counts: bool) -> int:
    """Technical successes of a covered row; without fallback answers where those don't count."""
    technical = row.counters.get("technical_success", 0)
    if fallback_counts:
        return technical
    return max(0, technical - row.counters.get("fallback", 0))


def _add(total: dict[str, int], part: Mapping[str, int]) -> None:
    for name, count in part.items():
        total[name] = total.get(name, 0) + count
