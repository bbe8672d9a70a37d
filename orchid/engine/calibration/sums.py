"""Many requests added up by shape cell, so that calibration is read in the number of cells."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from orchid.engine.calibration.observed import (
    Completion,
    Finished,
    Measure,
    Observation,
    cell_of,
    completions,
    observations,
    refused_cell,
)
from orchid.engine.calibration.ratios import bucket_of
from orchid.engine.calibration.samples import Cell, buckets_of
from orchid.engine.document.model import PolicyDocument


class CellKey(NamedTuple):
    """What one sum is about, without its day."""

    demand_version: str
    cell: Cell
    version: str
    measure: Measure


class BinKey(NamedTuple):
    demand_version: str
    route: str
    kind: str
    bin: int


class RefusedKey(NamedTuple):
    demand_version: str
    cell: Cell
    tenant: str


class Seen(NamedTuple):
    """One ratio in its turn: when its request arrived, and a number in [0, 1) that settles ties."""

    ratio: float
    at_ms: float
    turn: float


@dataclass(slots=True)
class CellSum:
    """Predictions of one measure beside what came of them; `within` were at or under 1."""

    n: int = 0
    within: int = 0
    promised: float = 0.0
    predicted: float = 0.0
    observed: float = 0.0
    ratios: Counter[int] = field(default_factory=Counter)

    def add(self, found: Observation) -> None:
        self.n += 1
        self.within += found.observed <= found.predicted
        self.promised += found.promised
        self.predicted += found.predicted
        self.observed += found.observed
        self.ratios[bucket_of(found.ratio)] += 1

    def merge(self, other: "CellSum") -> None:
        """Add what the other holds."""
        self.n += other.n
        self.within += other.within
        self.promised += other.promised
        self.predicted += other.predicted
        self.observed += other.observed
        self.ratios.update(other.ratios)


@dataclass(slots=True)
class BinSum:
    """Forecasts of one bin: how many, their sum, and how many requests were in time."""

    n: int = 0
    hits: int = 0
    predicted: float = 0.0

    def add(self, found: Completion) -> None:
        self.n += 1
        self.hits += found.in_time
        self.predicted += found.predicted


@dataclass
class Sums:
    """What some requests come to; add them in the order of arrival, for the watch's sake."""

    requests: int = 0
    cells: dict[tuple[date, CellKey], CellSum] = field(default_factory=dict)
    bins: dict[tuple[date, BinKey], BinSum] = field(default_factory=dict)
    refused: Counter[tuple[date, RefusedKey]] = field(default_factory=Counter)
    seen: dict[CellKey, list[Seen]] = field(default_factory=dict)

    def add(
        self, document: PolicyDocument, request: Finished, day: date, at_ms: float, turn: float
    ) -> None:
        """One request under the document that admitted it."""
        self.requests += 1
        buckets, name = buckets_of(document), document.demand.version
        if refused := refused_cell(request, buckets):
            self.refused[day, RefusedKey(name, refused, request.tenant or "-")] += 1
        tried, decided = request.served_by, request.decision
        if tried and (cell := cell_of(request, tried.route, buckets)):
            for found in observations(request, cell, document):
                key = CellKey(name, cell, tried.version, found.measure)
                self.cells.setdefault((day, key), CellSum()).add(found)
                self.seen.setdefault(key, []).append(Seen(found.ratio, at_ms, turn))
        for forecast in completions(request):
            route = (decided.route if decided else None) or ""
            bin_ = BinKey(name, route, forecast.kind, forecast.bin)
            self.bins.setdefault((day, bin_), BinSum()).add(forecast)
