"""Mergeable latency histograms on one grid that never changes.

The grid is log-linear: each decade from 0.01 ms to 10,000,000 ms holds 350 buckets whose upper
edges are round numbers (1.00, 1.01 ... 1.99, 2.00, 2.02 ... 4.98, 5.00, 5.05 ... 9.95), so no
bucket is wider than 1 % of its value. A bucket holds its upper edge. Percentiles are nearest rank
(inverted CDF) and shown at the upper edge: never more favourable than the data.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from itertools import chain

import numpy as np
from numpy.typing import NDArray

_FIRST_EXPONENT = -2
_LAST_EXPONENT = 7
_MANTISSAS = tuple(chain(range(100, 200), range(200, 500, 2), range(500, 1000, 5)))


def _grid() -> tuple[float, ...]:
    """The finite upper edges in milliseconds, parsed from decimal text so that 1.1 is 1.1."""
    decades = range(_FIRST_EXPONENT, _LAST_EXPONENT)
    edges = [float(f"{mantissa}e{decade - 2}") for decade in decades for mantissa in _MANTISSAS]
    return (*edges, float(f"1e{_LAST_EXPONENT}"))


_EDGES = _grid()

#: What never completed, or took longer than the grid: worse than any bound.
OVERFLOW = len(_EDGES)


def bucket_of(ms: float) -> int:
    """The bucket of a duration in milliseconds; infinity falls in OVERFLOW, NaN is refused."""
    if math.isnan(ms) or ms < 0:
        raise ValueError(f"a duration is a number of milliseconds from 0, not {ms}")
    return bisect_left(_EDGES, ms)


def buckets_of(ms: NDArray[np.float64]) -> NDArray[np.int64]:
    """`bucket_of` each of many durations from 0 on."""
    return np.searchsorted(_EDGES, ms, side="left")


def upper_edge_ms(bucket: int) -> float:
    """The largest duration that the bucket holds; infinity for OVERFLOW."""
    return math.inf if bucket >= OVERFLOW else _EDGES[bucket]


def merge(left: Mapping[int, int], right: Mapping[int, int]) -> dict[int, int]:
    """Both histograms as one: counts add, so order and batching change nothing."""
    return merge_all((left, right))


def merge_all(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Any number of histograms as one; none at all is the empty histogram."""
    merged: dict[int, int] = {}
    for histogram in histograms:
        for bucket, count in histogram.items():
            merged[bucket] = merged.get(bucket, 0) + count
    return merged


def total(counts: Mapping[int, int]) -> int:
    """How many samples the histogram holds."""
    return sum(counts.values())


def rank_of(quantile: float, samples: int) -> int:
    """Nearest rank ceil(q n), from 1; decimal arithmetic, because 0.95 x 20 has to be 19."""
    if not 0 < quantile <= 1:
        raise ValueError(f"a quantile lies above 0 and up to 1, not {quantile}")
    exact = Decimal(str(quantile)) * samples
    return max(1, int(exact.to_integral_value(ROUND_CEILING)))


def percentile_ms(counts: Mapping[int, int], quantile: float) -> float | None:
    """The nearest-rank percentile at its bucket's upper edge; None when there is no sample."""
    samples = total(counts)
    if samples == 0:
        return None
    remaining = rank_of(quantile, samples)
    for bucket in sorted(counts):
        remaining -= counts[bucket]
        if remaining <= 0:
            return upper_edge_ms(bucket)
    raise ValueError("a histogram holds a negative count")


def count_within(counts: Mapping[int, int], bound_ms: float) -> tuple[int, bool]:
    """How many samples are surely within the bound, and whether that is exact.

    Exact when the bound is an edge of the grid. Otherwise the bucket that straddles the bound
    counts as outside, the unfavourable side.
    """
    inside = sum(count for bucket, count in counts.items() if upper_edge_ms(bucket) <= bound_ms)
    straddling = bucket_of(bound_ms)
    exact = upper_edge_ms(straddling) == bound_ms or not counts.get(straddling, 0)
    return inside, exact
