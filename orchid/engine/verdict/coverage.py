"""Which cells of a window's traffic evidence covers.

Rollups know technical success only. Whether it was a success depends on evidence, which comes and
goes: a cell (segment x route x manifest) counts when evidence covers it, and what a fallback served
counts only while the segment's floor is cleared.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.segments import Selecting
from orchid.engine.selector_index import SelectorIndex, positions
from orchid.engine.verdict.counted import CellName, Counted
from orchid.engine.verdict.evidence import Book, Item
from orchid.engine.verdict.utility import Cell, Scores, index_of, variation

#: Populations that are delivered as whole responses.
SERVED = ("completed", "bounded", "early_terminated")

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


def scores_of(item: Item) -> Scores:
    """An item as the utility gate takes it, with the variation of its single scores if given."""
    spread = None if item.scores is None else variation(item.scores)
    return Scores(item.n, item.mean, item.spread, spread)


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
        return scores_of(found) if found else None

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
