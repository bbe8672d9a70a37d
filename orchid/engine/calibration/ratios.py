"""Ratios of what was measured to what was predicted: as they came, or in a mergeable histogram.

Both answer the same few questions, so a cell is judged alike whether its attempts are in a file or
were summed as they arrived. The histogram's grid is logarithmic with buckets of 1 %, centred on
equality, so an even prediction is exactly 1; coverage within 1 is exact.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: Natural logarithm from one bucket's centre to the next.
WIDTH = 0.01
#: Buckets on each side of equality: ratios from 3e-7 to 3e6; what lies beyond is in the last.
REACH = 1500


class Ratios(Protocol):
    """Many ratios of measured to predicted."""

    @property
    def n(self) -> int: ...
    def nth(self, rank: int) -> float:
        """The rank-th smallest, from 1."""
        ...

    def below(self, ratio: float) -> int:
        """How many are smaller."""
        ...

    def above(self, ratio: float) -> int:
        """How many are larger."""
        ...

    @property
    def median(self) -> float: ...
    @property
    def mean_error(self) -> float:
        """Mean distance from 1."""
        ...


class GivenRatios:
    """Ratios as they came."""

    def __init__(self, ratios: NDArray[np.float64]) -> None:
        self._ordered = np.sort(ratios)

    @property
    def n(self) -> int:
        return len(self._ordered)

    def nth(self, rank: int) -> float:
        return float(self._ordered[rank - 1])

    def below(self, ratio: float) -> int:
        return int(np.searchsorted(self._ordered, ratio, "left"))

    def above(self, ratio: float) -> int:
        return self.n - int(np.searchsorted(self._ordered, ratio, "right"))

    @property
    def median(self) -> float:
        return float(np.median(self._ordered))

    @property
    def mean_error(self) -> float:
        return float(np.mean(np.abs(self._ordered - 1)))


def bucket_of(ratio: float) -> int:
    """The bucket of a ratio; 0 falls in the lowest. Negative and unknown ones are refused."""
    if math.isnan(ratio) or ratio < 0:
        raise ValueError(f"a ratio of two amounts is a number from 0, not {ratio}")
    if not 0 < ratio < math.inf:
        return REACH if ratio else -REACH
    bucket = round(math.log(ratio) / WIDTH)
    if bucket == 0 and ratio != 1:
        # Equality has a bucket of its own, so that over and under a prediction is exact.
        bucket = 1 if ratio > 1 else -1
    return max(-REACH, min(REACH, bucket))


class SummedRatios:
    """A histogram of ratios. Shifted by `unit`, it holds each ratio divided by it."""

    def __init__(self, counts: Mapping[int, int], unit: float = 1.0) -> None:
        filled = sorted(bucket for bucket, count in counts.items() if count > 0)
        self._values = np.exp(np.array(filled, dtype=np.float64) * WIDTH) / unit
        self._counts = np.array([counts[bucket] for bucket in filled], dtype=np.int64)
        self._upto = np.cumsum(self._counts)

    @property
    def n(self) -> int:
        return int(self._upto[-1]) if len(self._upto) else 0

    def nth(self, rank: int) -> float:
        return float(self._values[np.searchsorted(self._upto, rank, "left")])

    def below(self, ratio: float) -> int:
        return int(self._counts[self._values < _from(ratio)].sum())

    def above(self, ratio: float) -> int:
        return int(self._counts[self._values > _upto(ratio)].sum())

    @property
    def median(self) -> float:
        return self.nth((self.n + 1) // 2)

    @property
    def mean_error(self) -> float:
        return float(np.abs(self._values - 1) @ self._counts / self.n)

    def steps(self) -> tuple[list[float], list[float]]:
        """The distribution function: each ratio that occurs, and the share at or under it."""
        return self._values.tolist(), (self._upto / max(self.n, 1)).tolist()


def merged(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Any number of histograms as one."""
    found: dict[int, int] = {}
    for histogram in histograms:
        for bucket, count in histogram.items():
            found[bucket] = found.get(bucket, 0) + count
    return found


def _from(ratio: float) -> float:
    """An end of an interval that is itself a bucket's value isn't missed by its last bit."""
    return ratio * (1 - 1e-9)


def _upto(ratio: float) -> float:
    return ratio * (1 + 1e-9)
