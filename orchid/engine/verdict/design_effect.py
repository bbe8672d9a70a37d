"""How much less neighbouring records say than independent ones: they share their incidents.

The design effect is the variance of block shares over the variance that a coin would have (Kish
1965; with unequal blocks Pearson's chi-square over its degrees of freedom), never below 1. Verdicts
use n/deff and s/deff.
"""

from collections.abc import Sequence

import numpy as np

from orchid.engine.verdict.proportion import Floats, Numbers, floats

MINIMUM_BLOCKS = 8


def estimate(blocks: Sequence[tuple[int, int]], prior: float) -> float:
    """The design effect of (within, total) counts by time block; empty blocks don't count."""
    within, total = np.array(blocks, np.float64).reshape(-1, 2).T
    return float(estimate_all(within[None], total[None], prior)[0])


def estimate_all(within: Numbers, total: Numbers, prior: float) -> Floats:
    """The design effect of every row of two tables: tests by time blocks, in order of time.

    Under eight blocks, or when every record agrees, there is nothing to estimate from: the
    policy's own prior holds.
    """
    s, n = floats(within), floats(total)
    used = (n > 0).sum(axis=1)
    records = np.maximum(n.sum(axis=1), 1.0)
    share = s.sum(axis=1) / records
    due = n * share[:, None]
    spread = ((s - due) ** 2 / np.maximum(n, 1.0)).sum(axis=1)
    coin = share * (1 - share)
    known = (used >= MINIMUM_BLOCKS) & (coin > 0)
    ratio = spread / np.where(known, coin * np.maximum(used - 1, 1), 1.0)
    return np.maximum(1.0, np.where(known, ratio, prior))
