"""What a sample of figures says: one percentile method for everything that is computed here."""

import math
from collections.abc import Iterable, Sequence

#: Said beside every percentile that is computed here; imported ones keep their own label.
METHOD = "nearest rank (inverted CDF)"
#: What is said of a sample, in percent.
PERCENTS = (50, 90, 95, 99)


def inverted_cdf(ordered: Sequence[float], percent: int) -> float:
    """The smallest value that at least `percent` % of a sorted sample don't exceed (nearest rank).

    Raises ValueError for an empty sample, which has no percentile.
    """
    if not ordered:
        raise ValueError("an empty sample has no percentile")
    rank = -(-percent * len(ordered) // 100)
    return ordered[max(rank, 1) - 1]


def described(values: Iterable[float]) -> dict[str, float]:
    """count, mean, min, p50, p90, p95, p99, max by name; empty for an empty sample."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        "count": len(ordered),
        "mean": math.fsum(ordered) / len(ordered),
        "min": ordered[0],
        **{f"p{percent}": inverted_cdf(ordered, percent) for percent in PERCENTS},
        "max": ordered[-1],
    }
