"""Exact percentiles and shares over a column of completion times: what an auditor checks with.

The rollups tell a share within a counted bound exactly and a percentile to its bucket. Here both
come from the single values, with nothing of the rollups in between.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchid.engine.histogram import rank_of

Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Within:
    """How many of all requests kept a bound."""

    bound_ms: float
    within: int
    total: int

    @property
    def share(self) -> float | None:
        """None without requests."""
        return self.within / self.total if self.total else None


def nearest_rank_ms(times: Times, quantile: float) -> float | None:
    """The value of nearest rank, infinity for a request that never ended whole.

    None without requests. Raises ValueError where a value is no number.
    """
    if not len(times):
        return None
    rank = rank_of(quantile, len(times))
    parted = np.partition(times, (rank - 1, len(times) - 1))
    # What is no number is sorted behind everything.
    if np.isnan(parted[-1]):
        raise ValueError("a completion time is a number of milliseconds or infinity, not NaN")
    return float(parted[rank - 1])


def within(times: Times, bound_ms: float) -> Within:
    """How many requests took no longer than the bound."""
    return Within(bound_ms, int(np.count_nonzero(times <= bound_ms)), len(times))
