"""Which points of quality, latency and cost another point beats on every count."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["measured", "replayed", "predicted", "declared"]


@dataclass(frozen=True, slots=True)
class Point:
    """One policy's outcome; a figure that is None is unknown, and its point is not compared."""

    name: str
    utility: float | None
    p95_ms: float | None
    cost_per_success_usd: Decimal | None
    kind: Kind


def dominated(points: Sequence[Point]) -> set[str]:
    """Names of the points that some other point equals or beats everywhere and beats somewhere."""
    known = [(point.name, losses) for point in points if (losses := _losses(point)) is not None]
    return {name for name, own in known if any(_dominates(other, own) for _, other in known)}


def _dominates(better: tuple[Decimal, ...], worse: tuple[Decimal, ...]) -> bool:
    return better != worse and all(a <= b for a, b in zip(better, worse, strict=True))


def _losses(point: Point) -> tuple[Decimal, ...] | None:
    """Three figures of which less is better; floats by their shortest spelling."""
    utility, p95_ms, cost = point.utility, point.p95_ms, point.cost_per_success_usd
    if utility is None or p95_ms is None or cost is None:
        return None
    return -Decimal(repr(utility)), Decimal(repr(p95_ms)), cost
