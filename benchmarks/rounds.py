"""Rounds of several contenders in turn, so that what slows the machine slows all of them."""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Round = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Series:
    """The figures of one contender, one a round."""

    figures: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.figures)

    @property
    def spread(self) -> float | None:
        """Half the interquartile range over the median; None for a single round."""
        if len(self.figures) < 2:
            return None
        low, _, high = statistics.quantiles(self.figures, n=4, method="inclusive")
        return round((high - low) / 2 / self.median, 4) if self.median else 0.0


def interleaved(contenders: Mapping[str, Round], rounds: int) -> dict[str, Series]:
    """Run one round of each in turn, `rounds` times; every other time in reverse order."""
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        order = list(contenders)
        for name in reversed(order) if number % 2 else order:
            figures[name].append(contenders[name]())
    return {name: Series(tuple(values)) for name, values in figures.items()}


def rate(work: Callable[[], int]) -> Round:
    """Calls a second of `work`, which says how many it has done."""

    def measured() -> float:
        begin = time.perf_counter()
        done = work()
        return done / (time.perf_counter() - begin)

    return measured


def seconds(work: Callable[[], object]) -> Round:
    """Wall time of one run of `work`."""

    def measured() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return measured


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: the least value with at least `share` of all at or under it."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
