"""Looks at every run again and again, with the functions that judge in production."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.gates.alpha.traffic import PER_MINUTE, Counts
from orchid.engine.verdict import design_effect, proportion

REQUIRED = 0.96
ALPHA_PASS = 0.05
ALPHA_FAIL = 0.01
NEVER = np.iinfo(np.int64).max

First = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Firsts:
    """By run, the number of requests at the first pass and at the first fail; NEVER without."""

    passed: First
    failed: First

    @classmethod
    def of(cls, runs: int) -> Self:
        """Before any look."""
        return cls(np.full(runs, NEVER), np.full(runs, NEVER))


def every_minute(good: Counts, prior: float, least: int = 200) -> Firsts:
    """A look after every minute, deflated by what that many minutes show."""
    firsts = Firsts.of(len(good))
    sizes = np.full(good.shape, PER_MINUTE)
    for seen in range(-(-least // PER_MINUTE), good.shape[1] + 1):
        _look(firsts, good[:, :seen], sizes[:, :seen], prior)
    return firsts


def every_request(good: NDArray[np.bool_], prior: float) -> Firsts:
    """A look after every single request, deflated by whole minutes and the one that has begun."""
    runs, requests = good.shape
    firsts = Firsts.of(runs)
    shape = runs, -(-requests // PER_MINUTE)
    counts, sizes = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for request in range(requests):
        minute = request // PER_MINUTE
        counts[:, minute] += good[:, request]
        sizes[:, minute] += 1
        _look(firsts, counts[:, : minute + 1], sizes[:, : minute + 1], prior)
    return firsts


def fixed_sample(good: NDArray[np.bool_], least: int = 200) -> First:
    """The first look at which an exact one-sided binomial test, made for one look, passes."""
    first = np.full(len(good), NEVER)
    within = good.cumsum(axis=1)
    for total in range(least, good.shape[1] + 1):
        passing = within[:, total - 1] >= _needed(total)
        first[(first == NEVER) & passing] = total
    return first


def fixed_sample_size(share: float, power: float) -> int:
    """The requests at which that test, looked at once, passes `share` with this power."""
    return next(
        total
        for total in range(50, 100_000)
        if stats.binom.sf(_needed(total) - 1, total, share) >= power
    )


def _needed(total: int) -> int:
    """Least good requests of `total` that a share at the bound reaches with at most ALPHA_PASS."""
    return int(stats.binom.isf(ALPHA_PASS, total, REQUIRED)) + 1


def _look(firsts: Firsts, good: Counts, sizes: Counts, prior: float) -> None:
    """One look at every run, by the blocks so far; only runs that could cross are weighed."""
    total, within = int(sizes[0].sum()), good.sum(axis=1)
    near = np.flatnonzero(_could_cross(firsts, within, total, prior))
    effect = design_effect.estimate_all(good[near], sizes[near], prior)
    s, n = within[near] / effect, total / effect
    passes = proportion.log_e_pass(s, n, REQUIRED) >= -math.log(ALPHA_PASS)
    fails = proportion.log_e_fail(s, n, REQUIRED) >= -math.log(ALPHA_FAIL)
    for first, crossed in ((firsts.passed, near[passes]), (firsts.failed, near[fails])):
        first[crossed] = np.minimum(first[crossed], total)


def _could_cross(firsts: Firsts, within: Counts, total: int, prior: float) -> NDArray[np.bool_]:
    """A mixture is below its best likelihood ratio, which the least deflation makes largest."""
    share = within / total
    most = total / max(1.0, prior) * proportion.divergence(share, REQUIRED)
    passes = (firsts.passed == NEVER) & (share > REQUIRED) & (most >= -math.log(ALPHA_PASS))
    fails = (firsts.failed == NEVER) & (share < REQUIRED) & (most >= -math.log(ALPHA_FAIL))
    return np.asarray(passes | fails)
