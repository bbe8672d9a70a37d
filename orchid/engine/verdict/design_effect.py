"""How much less neighbouring records say than independent ones: they share their incidents.

The design effect is the variance of block shares over the variance that a coin would have (Kish
1965, Survey Sampling; with unequal blocks Pearson's chi-square over its degrees of freedom), never
below 1. Verdicts use n/deff and s/deff. Two things make an estimate from a window too small, and
both are met on the unfavourable side:

* few blocks are noisy: the upper end of a one-sided interval counts (the ratio of variances of
  d + 1 blocks is about chi-square over its d degrees of freedom);
* an incident outlasts a block: blocks are merged in twos, fours and so on while at least eight are
  left, and the largest figure counts (batch means: Conway 1963; Schmeiser 1982).

An incident that a window has not met yet is in no estimate from it. The policy's prior is therefore
a floor: what a window sees can raise it and never lower it. The same function over a long past of
the product, such as a week, gives the prior to declare (`PAST`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from orchid.engine.verdict.proportion import Floats, Numbers, floats

MINIMUM_BLOCKS = 8


@dataclass(frozen=True, slots=True)
class Care:
    """How sure the upper end is, and how many blocks merging must leave."""

    confidence: float
    least_blocks: int


WINDOW = Care(0.8, MINIMUM_BLOCKS)
#: A prior holds for long, so it is surer; and a long past has blocks enough to tell it well.
PAST = Care(0.95, 32)


def estimate(blocks: Sequence[tuple[int, int]], prior: float) -> float:
    """The design effect of (within, total) counts by time block; empty blocks don't count."""
    within, total = np.array(blocks, np.float64).reshape(-1, 2).T
    return float(estimate_all(within[None], total[None], prior)[0])


def estimate_all(within: Numbers, total: Numbers, prior: float, care: Care = WINDOW) -> Floats:
    """The design effect of every row of two tables: tests by time blocks, in order of time.

    Under eight blocks (`care`), or when every record agrees, there is nothing to estimate from:
    the prior alone holds.
    """
    s, n = floats(within), floats(total)
    share = s.sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    found = np.full(len(n), max(1.0, prior))
    for size in _sizes(n.shape[1], care.least_blocks):
        here = _upper(_merged(s, size), _merged(n, size), share, care)
        found = np.maximum(found, here)
    return found


def _sizes(blocks: int, least: int) -> Iterator[int]:
    """1, 2, 4 ... blocks to one, while at least so many are left."""
    size = 1
    while blocks // size >= least:
        yield size
        size *= 2


def _merged(counts: Floats, size: int) -> Floats:
    return floats(np.add.reduceat(counts, np.arange(0, counts.shape[1], size), axis=1))


def _upper(s: Floats, n: Floats, share: Floats, care: Care) -> Floats:
    """The upper end of the variance ratio of these blocks; 0 where they can't say."""
    freedom = np.maximum(np.count_nonzero(n, axis=1) - 1, 0)
    coin = share * (1 - share)
    known = (freedom + 1 >= care.least_blocks) & (coin > 0)
    off = s - n * share[:, None]
    square = np.einsum("ij,ij->i", off, off / np.maximum(n, 1.0))
    least = _quantiles(n.shape[1], care.confidence)[freedom]
    return np.where(known, square / (np.where(known, coin, 1.0) * least), 0.0)


@lru_cache(maxsize=64)
def _quantiles(most: int, confidence: float) -> Floats:
    """What chi-square exceeds so surely, by its degrees of freedom from 0 (taken as 1)."""
    return floats(special.chdtri(np.maximum(np.arange(most), 1.0), confidence))
