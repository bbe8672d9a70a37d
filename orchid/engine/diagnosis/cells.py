"""Counted cells as a diagnosis reads them: requests of one segment and route, and how they ended.

The ways of ending are taken apart without overlap. The populations of an ended request that is not
in the denominator can't be told from the others' by counts alone; so each way takes at most what is
left of the denominator, in a fixed order, and the parts always sum to the whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from orchid.engine.clocks import LatencyBound
from orchid.engine.histogram import count_within
from orchid.engine.verdict.counted import CellSums, Counted
from orchid.engine.verdict.traffic import SERVED, Coverage

#: Ways in which an eligible request is no success, in the order in which they are told.
ENDINGS = (
    "rejected",
    "deferred",
    "cancelled",
    "timed_out",
    "failed",
    "truncated",
    "lost",
    "violation",
)
LATE = "late or not valid"
UNPROVEN = "without evidence"
#: Ways in which an admitted request ends without a whole response.
UNDELIVERED = ("timed_out", "failed", "truncated", "lost")
OUTSIDE = "over the bound"

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Stratum:
    """`n` requests of one segment and route, and those of them that are lost, by how."""

    segment: str
    route: str
    n: int
    losses: Mapping[str, int] = field(default_factory=dict)

    @property
    def good(self) -> int:
        return self.n - sum(self.losses.values())


@dataclass(frozen=True, slots=True)
class Cell:
    """One segment and route in one window, with all that a diagnosis asks of it.

    `fallback` of the `eligible` requests were served by this route in place of another. `score` is
    the evidence's mean, None without evidence.
    """

    segment: str
    dims: Mapping[str, str]
    route: str
    eligible: int
    successes: int
    served: int
    fallback: int
    admitted: int
    ended: Stratum
    violations: int
    latency: Mapping[str, Stratum]
    teu: Fraction
    usd: Fraction
    score: Fraction | None

    @property
    def key(self) -> Key:
        return self.segment, self.route


def cells_of(counted: Counted, coverage: Coverage, bounds: Sequence[LatencyBound]) -> list[Cell]:
    """The cells of a window, with the share within each of the bounds.

    Cells of one segment and route under several manifests stand as one.
    """
    found: dict[Key, list[Cell]] = {}
    for sums in counted.sums():
        cell = _cell(sums, coverage, bounds)
        found.setdefault(cell.key, []).append(cell)
    return [_joined(some) for _, some in sorted(found.items())]


def strata(cells: Iterable[Cell]) -> list[Stratum]:
    """How the eligible requests ended."""
    return [cell.ended for cell in cells]


def violation_strata(cells: Iterable[Cell]) -> list[Stratum]:
    """Of the responses that were delivered as whole ones, the invalid."""
    return [
        Stratum(cell.segment, cell.route, cell.served, {"violation": cell.violations})
        for cell in cells
    ]


def latency_strata(cells: Iterable[Cell], bound: str) -> list[Stratum]:
    """Of the requests that a latency gate counts, those outside its bound."""
    return [cell.latency[bound] for cell in cells if bound in cell.latency]


def _cell(sums: CellSums, coverage: Coverage, bounds: Sequence[LatencyBound]) -> Cell:
    name, counters = sums.name, sums.counters
    told = coverage.told(name)
    technical = counters.get("technical_success", 0)
    if told.scores is None:
        successes = 0
    elif coverage.fallback_counts(name.dims):
        successes = technical
    else:
        successes = max(0, technical - counters.get("fallback", 0))
    served = sum(counters.get(population, 0) for population in SERVED)
    return Cell(
        name.dims_key,
        name.dims,
        name.route,
        counters.get("eligible", 0),
        successes,
        served,
        min(counters.get("fallback", 0), counters.get("eligible", 0)),
        counters.get("admitted", 0),
        _ended(sums, successes),
        min(counters.get("violation", 0), served),
        {bound.key: _latency(sums, bound) for bound in bounds},
        Fraction(sums.teu),
        Fraction(sums.cost_usd),
        Fraction(told.scores.mean) if told.scores else None,
    )


def _ended(sums: CellSums, successes: int) -> Stratum:
    eligible = sums.counters.get("eligible", 0)
    technical = min(sums.counters.get("technical_success", 0), eligible)
    losses = {UNPROVEN: technical - min(successes, technical)}
    losses |= _in_order(sums.counters, ENDINGS, eligible - technical, LATE)
    return Stratum(sums.name.dims_key, sums.name.route, eligible, _some(losses))


def _latency(sums: CellSums, bound: LatencyBound) -> Stratum:
    n = sums.counters.get(bound.population, 0)
    outside = n - min(_kept(sums, bound, n), n)
    losses = _in_order(sums.counters, UNDELIVERED, outside, OUTSIDE)
    return Stratum(sums.name.dims_key, sums.name.route, n, _some(losses))


def _kept(sums: CellSums, bound: LatencyBound, n: int) -> int:
    """Requests within the bound: counted, or those that the histogram has surely below it."""
    kept = sums.within.get(bound.key, 0)
    if sums.judged.get(bound.key, 0) == n or bound.clock != "completion":
        return kept
    sure, _ = count_within(sums.histogram, bound.max_ms)
    return max(kept, sure)


def _in_order(
    counters: Mapping[str, int], names: Sequence[str], left: int, rest: str
) -> dict[str, int]:
    found = {}
    for name in names:
        found[name] = min(counters.get(name, 0), left)
        left -= found[name]
    return {**found, rest: left}


def _some(losses: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in losses.items() if count}


def _joined(cells: Sequence[Cell]) -> Cell:
    """Cells that differ by their manifest alone; the score is that of all their responses."""
    if len(cells) == 1:
        return cells[0]
    first = cells[0]
    return Cell(
        first.segment,
        first.dims,
        first.route,
        sum(cell.eligible for cell in cells),
        sum(cell.successes for cell in cells),
        sum(cell.served for cell in cells),
        sum(cell.fallback for cell in cells),
        sum(cell.admitted for cell in cells),
        _one(cell.ended for cell in cells),
        sum(cell.violations for cell in cells),
        {bound: _one(cell.latency[bound] for cell in cells) for bound in first.latency},
        sum((cell.teu for cell in cells), Fraction(0)),
        sum((cell.usd for cell in cells), Fraction(0)),
        _mean_score(cells),
    )


def _one(some: Iterable[Stratum]) -> Stratum:
    found = list(some)
    losses: dict[str, int] = {}
    for stratum in found:
        for name, count in stratum.losses.items():
            losses[name] = losses.get(name, 0) + count
    return Stratum(found[0].segment, found[0].route, sum(one.n for one in found), losses)


def _mean_score(cells: Sequence[Cell]) -> Fraction | None:
    served = [cell for cell in cells if cell.served]
    if not served or any(cell.score is None for cell in served):
        return None
    total = sum(cell.served for cell in served)
    return sum((cell.score * cell.served for cell in served if cell.score), Fraction(0)) / total
