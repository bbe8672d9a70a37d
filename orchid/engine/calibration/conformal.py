"""Prediction intervals without a model of the error: order statistics of held-out ratios.

With n ratios of measured to predicted that the predictor has not seen, the next one lies between
the floor((n+1) a/2)-th and the ceil((n+1)(1-a/2))-th with probability at least 1 - a (split
conformal prediction: Vovk, Gammerman, Shafer 2005; Lei, G'Sell, Rinaldo, Tibshirani, Wasserman
2018, JASA 113). Taken within a shape cell, it holds within the cell (Mondrian form, Vovk 2005).
"""

import math
from dataclasses import dataclass

from orchid.engine.calibration.ratios import Ratios

# So that 0.95 read as 0.9500000000000001 asks for no rank more.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """Where measured over predicted lies with the nominal chance; None where n is too few."""

    n: int
    low: float | None
    high: float | None
    needed: int

    @property
    def too_few(self) -> bool:
        return self.high is None


def needed_for(nominal: float) -> int:
    """Fewest ratios from which an interval of this chance can be stated: 39 for 95 %."""
    return math.ceil(2 / (1 - nominal) - 1 - _ROUNDING)


def ratio_interval(ratios: Ratios, nominal: float) -> RatioInterval:
    """The two-sided interval of the next ratio."""
    n, tail, needed = ratios.n, (1 - nominal) / 2, needed_for(nominal)
    if n < needed:
        return RatioInterval(n, None, None, needed)
    low = max(math.floor((n + 1) * tail + _ROUNDING), 1)
    high = min(math.ceil((n + 1) * (1 - tail) - _ROUNDING), n)
    return RatioInterval(n, ratios.nth(low), ratios.nth(high), needed)


def upper_ratio(ratios: Ratios, share: float) -> float | None:
    """What the next ratio stays under with the given chance; None where n is too few to say."""
    rank = math.ceil((ratios.n + 1) * share - _ROUNDING)
    return ratios.nth(rank) if rank <= ratios.n else None
