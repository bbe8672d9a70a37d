"""Percentiles as pages and machines show them: the value together with how it was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf

from orchid.engine.histogram import percentile_ms

METHOD = (
    "nearest rank over a fixed grid, shown at the bucket's upper edge: never below the value, and "
    "at most 1 % above it"
)
SHOWN = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class Percentile:
    """A percentile of completion times; no value without a sample, or beyond the last edge.

    `beyond_grid` says that so many requests never ended whole that the percentile is one of them.
    """

    quantile: float
    ms: float | None
    beyond_grid: bool
    method: str = METHOD


def percentile_of(histogram: Mapping[int, int], quantile: float) -> Percentile:
    """The percentile of merged samples: histograms are merged first, percentiles never."""
    found = percentile_ms(histogram, quantile)
    beyond = found is not None and isinf(found)
    return Percentile(quantile, None if beyond else found, beyond)
