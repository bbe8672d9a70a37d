"""Simulated requests of known quality: coin flips, uneven minutes, and incidents that last."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Draw = Callable[[np.random.Generator, int, int, float], Counts]

#: Requests in a minute, which is a step and a time block.
PER_MINUTE = 100


@dataclass(frozen=True, slots=True)
class Bad:
    """Two states (Gilbert 1960): bad minutes are `part` of all, last `minutes` on average, and
    have a share of good requests of `share`; the others make up for them."""

    part: float
    minutes: float
    share: float


def independent(generator: np.random.Generator, runs: int, minutes: int, share: float) -> Counts:
    """Good requests by run and minute, each request a coin flip."""
    return generator.binomial(PER_MINUTE, share, (runs, minutes))


def uneven(generator: np.random.Generator, runs: int, minutes: int, share: float) -> Counts:
    """Every minute has a share of its own, Beta distributed: a design effect of about 3."""
    weight = 49.0
    shares = generator.beta(share * weight, (1 - share) * weight, (runs, minutes))
    return generator.binomial(PER_MINUTE, shares)


def incidents(bad: Bad) -> Draw:
    """Good requests by run and minute while incidents come and go."""

    def draw(generator: np.random.Generator, runs: int, minutes: int, share: float) -> Counts:
        good = (share - bad.part * bad.share) / (1 - bad.part)
        shares = np.where(_bad_minutes(bad, generator, runs, minutes), bad.share, good)
        return generator.binomial(PER_MINUTE, shares)

    return draw


def _bad_minutes(
    bad: Bad, generator: np.random.Generator, runs: int, minutes: int
) -> NDArray[np.bool_]:
    ends = 1 / bad.minutes
    begins = bad.part * ends / (1 - bad.part)
    now = generator.random(runs) < bad.part
    seen = np.empty((runs, minutes), bool)
    for minute in range(minutes):
        seen[:, minute] = now
        chance = generator.random(runs)
        now = np.where(now, chance >= ends, chance < begins)
    return seen
