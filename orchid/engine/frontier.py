"""Which points of quality, latency and cost another point beats on every count, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["measured", "replayed", "predicted", "declared"]
#: Ends of an interval, the smaller first; an end may be infinite.
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One policy's outcome; a figure that is None is unknown, and its point is not compared.

    An interval that is None belongs to a figure that is stated without one.
    """

    name: str
    utility: float | None
    p95_ms: float | None
    cost_per_success_usd: Decimal | None
    kind: Kind
    attainment: float | None = None
    success_per_s: Decimal | None = None
    utility_interval: Interval | None = None
    p95_interval_ms: Interval | None = None
    cost_interval_usd: Interval | None = None
    attainment_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Beaten:
    """The points that beat one on every count, as their figures stand.

    `surely` where one of them does so whatever its figures are within both points' intervals;
    otherwise the two are not told apart by what was measured.
    """

    by: tuple[str, ...]
    surely: bool


def dominated(points: Sequence[Point]) -> set[str]:
    """Names of the points that some other point equals or beats everywhere and beats somewhere."""
    return set(beaten(points))


def beaten(points: Sequence[Point]) -> dict[str, Beaten]:
    """Every dominated point by its name, with the points that dominate it."""
    known = [losses for point in points if (losses := _losses(point)) is not None]
    found = {}
    for own in known:
        better = [other for other in known if _dominates(other.stated, own.stated)]
        if better:
            surely = any(_apart(other, own) for other in better)
            found[own.name] = Beaten(tuple(other.name for other in better), surely)
    return found


@dataclass(frozen=True, slots=True)
class _Losses:
    """Three figures of which less is better: as stated, at their best and at their worst."""

    name: str
    stated: tuple[Decimal, ...]
    best: tuple[float, ...]
    worst: tuple[float, ...]


def _dominates(better: tuple[Decimal, ...], worse: tuple[Decimal, ...]) -> bool:
    return better != worse and all(a <= b for a, b in zip(better, worse, strict=True))


def _apart(better: _Losses, worse: _Losses) -> bool:
    return all(a <= b for a, b in zip(better.worst, worse.best, strict=True))


def _losses(point: Point) -> _Losses | None:
    """Floats by their shortest spelling, so that 0.902 is 0.902."""
    utility, p95_ms, cost = point.utility, point.p95_ms, point.cost_per_success_usd
    if utility is None or p95_ms is None or cost is None:
        return None
    quality = point.utility_interval or (utility, utility)
    latency = point.p95_interval_ms or (p95_ms, p95_ms)
    money = point.cost_interval_usd or (float(cost), float(cost))
    return _Losses(
        point.name,
        (-Decimal(repr(utility)), Decimal(repr(p95_ms)), cost),
        (-quality[1], latency[0], money[0]),
        (-quality[0], latency[1], money[1]),
    )
