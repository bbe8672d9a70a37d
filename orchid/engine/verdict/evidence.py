"""Which evidence speaks for a cell of the traffic, and why other evidence does not. Pure.

A cell is a combination of dimensions, a route and a manifest. Of a product's evidence, newest push
first, an item may speak for a cell when

* it is **in force**: the suite's last push for this route and manifest was of the same edition
  (suite, index and prompt version), and no later push measured the same selector and load state;
* it was measured for this very route and manifest, its selector takes the cell's dimensions, and
  its load state is the cell's;
* its kind may clear a floor: a frozen suite, a shadow comparison or a human evaluation. Online
  outcomes never do, and policy and adversarial suites look for violations, not for usefulness;
* it is no older than the policy allows at the moment that is judged.

The most specific of them speaks; of equals the one pushed last. Where the policy requires further
kinds, the cell is covered only while each of them is there and fresh as well.

Violations that a suite found need no freshness: age makes no answer valid. They hold against every
cell that the item takes until a later push of the suite supersedes it.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import LOAD_STATE, Where, matches, may_overlap, specificity, where_key
from orchid.engine.selector_index import SelectorIndex, positions

#: What everyday load is called by suites and by edges. Traffic that is not told apart by load
#: state counts as this, so that evidence taken under overload never speaks for it.
EVERYDAY = frozenset({"", "steady", "normal"})


class Kind(StrEnum):
    """How evidence was come by."""

    FROZEN_SUITE = "frozen_suite"
    ADVERSARIAL = "adversarial"
    POLICY = "policy"
    SHADOW = "shadow"
    ONLINE = "online"
    HUMAN = "human"


#: Kinds whose score can clear a floor.
SCORING_KINDS = (Kind.FROZEN_SUITE, Kind.SHADOW, Kind.HUMAN)
#: Kinds whose violations the violations gate reads. What happened online is in the traffic's own
#: counters already.
VIOLATION_KINDS = tuple(kind for kind in Kind if kind is not Kind.ONLINE)


class Silence(StrEnum):
    """Why an item does not speak, whatever the cell."""

    EDITION = "superseded by another edition of the suite"
    PUSH = "superseded by a later push"
    STALE = "older than the policy allows"
    KIND = "of a kind that clears no floor"


def mean_and_spread(scores: Sequence[float]) -> tuple[float, float]:
    """Mean and sample deviation of scores in [0, 1]; both 0 without any.

    The deviation of such scores is at most a half; that of a small sample may be more.
    """
    if not scores:
        return 0.0, 0.0
    mean = math.fsum(scores) / len(scores)
    spread = statistics.stdev(scores, mean) if len(scores) > 1 else 0.0
    return mean, min(0.5, spread)


@dataclass(frozen=True, slots=True)
class Item:
    """One measured cell. `push` grows with each set that came in; `spread` is the deviation.

    `scores` are those of the single items in [0, 1], where they were given.
    """

    digest: str
    kind: str
    suite: str
    suite_version: str
    route: str
    manifest: str
    where: Where
    n: int
    mean: float
    spread: float
    violations: int
    measured_at: datetime
    push: int
    load_state: str = ""
    index_version: str = ""
    prompt_version: str = ""
    scores: tuple[float, ...] | None = None

    @property
    def edition(self) -> tuple[str, str, str]:
        """What has to be equal for two scores of a suite to be comparable."""
        return self.suite_version, self.index_version, self.prompt_version

    @property
    def measured(self) -> tuple[str, str, str, str]:
        """The suite as run on one manifest: one edition of it is in force."""
        return self.kind, self.suite, self.route, self.manifest

    @property
    def cell(self) -> tuple[str, ...]:
        """What a later run of the suite measures again."""
        return *self.measured, where_key(self.where), self.load_state

    @property
    def name(self) -> str:
        """The suite and its version, in words."""
        return f"{self.suite} {self.suite_version}"

    def age(self, at: datetime) -> timedelta:
        """Never negative: a clock ahead of ours makes nothing fresher."""
        return max(at - self.measured_at, timedelta(0))

    def takes(self, dims: Mapping[str, str]) -> bool:
        """Whether its selector and its load state are those of the cell."""
        return matches(self.where, dims) and self.under(dims)

    def under(self, dims: Mapping[str, str]) -> bool:
        """Whether it was measured under the cell's load state, or under none in particular."""
        mine, cell = self.load_state, dims.get(LOAD_STATE, "")
        return not mine or mine == cell or (mine in EVERYDAY and cell in EVERYDAY)


@dataclass(frozen=True, slots=True)
class Silent:
    """An item that can't clear a floor, and why; `by` is what took its place."""

    item: Item
    why: Silence
    by: Item | None = None


def stale(item: Item, at: datetime, max_age: timedelta) -> bool:
    """Whether the item is too old to clear a floor at that moment."""
    return item.age(at) > max_age


def in_force(items: Iterable[Item]) -> tuple[list[Item], list[Silent]]:
    """The items that nothing superseded, newest first, and those that something did."""
    ordered = sorted(items, key=lambda item: (-item.push, item.digest))
    last: dict[tuple[str, ...], Item] = {}
    cells: dict[tuple[str, ...], Item] = {}
    current, silent = [], []
    for item in ordered:
        newest = last.setdefault(item.measured, item)
        cell = cells.setdefault(item.cell, item)
        if newest.push > item.push and newest.edition != item.edition:
            silent.append(Silent(item, Silence.EDITION, newest))
        elif cell is not item:
            silent.append(Silent(item, Silence.PUSH, cell))
        else:
            current.append(item)
    return current, silent


class _Shelf:
    """What is in force of one route under one manifest, found by the cell's dimensions."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self._index = SelectorIndex([item.where for item in items])

    def taking(self, dims: Mapping[str, str]) -> list[Item]:
        """Those whose selector and load state are the cell's, newest first."""
        fitting = positions(self._index.covering(dims))
        return [self.items[n] for n in fitting if self.items[n].under(dims)]


def _shelves(items: Iterable[Item]) -> dict[tuple[str, str], _Shelf]:
    found: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        found.setdefault((item.route, item.manifest), []).append(item)
    return {place: _Shelf(some) for place, some in found.items()}


class Book:
    """A product's evidence as it stands for one document at one moment."""

    def __init__(self, items: Iterable[Item], document: PolicyDocument, at: datetime) -> None:
        self.at, self.rules = at, document.gates.evidence
        self.max_age = timedelta(milliseconds=self.rules.max_age_ms)
        self.current, self.silent = in_force(items)
        self._shelves = _shelves(self.current)
        silences = ((item, self._silence(item)) for item in self.current)
        self.silent += [Silent(item, why) for item, why in silences if why]

    @property
    def valid(self) -> list[Item]:
        """What can clear a floor at this moment, whatever the cell."""
        return [item for item in self.current if self._silence(item) is None]

    def parts(self, dims: Mapping[str, str], route: str, manifest: str) -> list[Item]:
        """Valid items that speak for a part of the cell: their selectors say more than it."""
        shelf = self._shelves.get((route, manifest))
        return [
            item
            for item in (shelf.items if shelf else ())
            if self._silence(item) is None and may_overlap(item.where, dims) and item.under(dims)
        ]

    def speaker(self, dims: Mapping[str, str], route: str, manifest: str) -> Item | None:
        """The item whose score stands for the cell; None where nothing covers it."""
        taking = self._taking(dims, route, manifest)
        if self._lacking(taking):
            return None
        scoring = (item for item in taking if item.kind in SCORING_KINDS)
        return max(scoring, key=lambda item: specificity(item.where), default=None)

    def found(self, dims: Mapping[str, str], route: str, manifest: str) -> tuple[Item, ...]:
        """Every item in force that found violations which hold against the cell."""
        shelf = self._shelves.get((route, manifest))
        taking = shelf.taking(dims) if shelf else ()
        return tuple(i for i in taking if i.violations and i.kind in VIOLATION_KINDS)

    def why_silent(self, dims: Mapping[str, str], route: str, manifest: str) -> str:
        """In words what keeps the cell uncovered; empty where something speaks."""
        if self.speaker(dims, route, manifest):
            return ""
        shelf = self._shelves.get((route, manifest))
        if shelf is None:
            return "nothing measured of this route under this manifest"
        if lacking := self._lacking(self._taking(dims, route, manifest)):
            return f"no evidence in force of kind {', '.join(lacking)}"
        return self._nearest(shelf.items, dims)

    def _taking(self, dims: Mapping[str, str], route: str, manifest: str) -> list[Item]:
        shelf = self._shelves.get((route, manifest))
        taking = shelf.taking(dims) if shelf else ()
        return [item for item in taking if not stale(item, self.at, self.max_age)]

    def _lacking(self, taking: Sequence[Item]) -> list[str]:
        kinds = {item.kind for item in taking}
        return [kind for kind in self.rules.kinds_required if kind not in kinds]

    def _silence(self, item: Item) -> Silence | None:
        if item.kind not in SCORING_KINDS:
            return Silence.KIND
        return Silence.STALE if stale(item, self.at, self.max_age) else None

    def _nearest(self, mine: Sequence[Item], dims: Mapping[str, str]) -> str:
        """The reason of what came nearest to speaking."""
        matching = [item for item in mine if matches(item.where, dims)]
        scoring = [item for item in matching if item.kind in SCORING_KINDS]
        if any(item.takes(dims) for item in scoring):
            youngest = min(item.age(self.at) for item in scoring if item.takes(dims))
            return f"its evidence is {youngest.days} days old, {self.max_age.days} are allowed"
        if scoring:
            states = sorted({item.load_state for item in scoring})
            return f"measured only under load state {', '.join(states)}"
        if matching:
            kinds = sorted({item.kind for item in matching})
            return f"only evidence of a kind that clears no floor ({', '.join(kinds)})"
        return "no evidence of this route and manifest takes this segment"
