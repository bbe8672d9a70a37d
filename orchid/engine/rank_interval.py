"""An interval of a percentile from order statistics, without a model of the distribution.

The number of samples at or below the q-quantile is binomial (n, q), so the quantile lies between
the l-th and the u-th of n ordered samples with probability at least 1 - alpha, where
P(X < l) <= alpha/2 and P(X >= u) <= alpha/2 (David, Nagaraja 2003, Order Statistics, 7.1). Samples
that share their incidents count as n/deff independent ones. It is an interval of one look, meant
for the eye: a verdict has its own.
"""

import math
from collections.abc import Mapping

from scipy import special

from orchid.engine.histogram import percentile_ms, total

# So that the k-th of n samples is asked for as such, and not as the next by the last bit.
_DOWN = 1 - 1e-12


def percentile_interval_ms(
    counts: Mapping[int, int], quantile: float, *, effect: float = 1.0, alpha: float = 0.05
) -> tuple[float, float] | None:
    """Ends of the percentile in milliseconds, on the grid's upper edges; None without a sample.

    The upper end is infinite where the samples are too few to bound it, the lower then 0.
    """
    n = math.floor(total(counts) / max(effect, 1.0))
    if n < 1:
        return None
    low, high = _ranks(n, quantile, alpha)
    below = percentile_ms(counts, low * _DOWN / n) if low >= 1 else 0.0
    above = percentile_ms(counts, high * _DOWN / n) if high <= n else math.inf
    return below or 0.0, math.inf if above is None else above


def _ranks(n: int, quantile: float, alpha: float) -> tuple[int, int]:
    return _least(alpha / 2, n, quantile), _least(1 - alpha / 2, n, quantile) + 1


def _least(chance: float, n: int, share: float) -> int:
    """The smallest count whose binomial distribution function reaches the chance."""
    count = max(0, math.floor(special.bdtrik(chance, n, share)) - 1)
    while special.bdtr(count, n, share) < chance:
        count += 1
    return count
