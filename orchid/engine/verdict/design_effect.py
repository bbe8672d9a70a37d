"""How much less independent records say: neighbours in time share their incidents.

The design effect is the variance of block shares over the variance that a coin would have (Kish
1965; with unequal blocks Pearson's chi-square over its degrees of freedom), never below 1. Verdicts
use n/deff and s/deff.
"""

from collections.abc import Sequence

MINIMUM_BLOCKS = 8


def estimate(blocks: Sequence[tuple[int, int]], prior: float) -> float:
    """The design effect of (within, total) counts by time block; empty blocks don't count.

    Under eight blocks, or when every record agrees, there is nothing to estimate from: the
    policy's own prior holds.
    """
    used = [(s, n) for s, n in blocks if n > 0]
    total = sum(n for _, n in used)
    share = sum(s for s, _ in used) / total if total else 0.0
    if len(used) < MINIMUM_BLOCKS or not 0 < share < 1:
        return max(1.0, prior)
    spread = sum(n * (s / n - share) ** 2 for s, n in used) / (len(used) - 1)
    return max(1.0, spread / (share * (1 - share)))
