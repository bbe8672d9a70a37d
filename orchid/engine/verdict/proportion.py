"""E-values for a share: attainment, and latency as "at least 95 % are within the bound".

For s of n within the bound and a required share p0, with a Beta(a, b) prior truncated to the
alternative side,

    e_pass = [B(a+s, b+n-s) P(q > p0 | a+s, b+n-s)] / [B(a, b) P(q > p0 | a, b)]
             / (p0^s (1-p0)^(n-s))                                   null: share <= p0
    e_fail = the same with P(q < p0 | ...)                           null: share >= p0

Both are mixture likelihood ratios (Robbins 1970, Ann. Math. Statist. 41; Howard, Ramdas,
McAuliffe, Sekhon 2021, Ann. Statist. 49), so the chance of ever reaching 1/alpha under the null is
below alpha.
Counts may be fractions: deflation for correlated neighbours divides both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import special

# Halvings of an interval of shares: far finer than any count can tell apart.
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Prior:
    """The Beta prior of the share before any record; (1, 1) favours no share."""

    a: float = 1.0
    b: float = 1.0


FLAT = Prior()


def log_e_pass(s: float, n: float, p0: float, prior: Prior = FLAT) -> float:
    """Log evidence that the share is above p0; 0 without records."""
    _check(s, n, p0)
    before = _log(float(special.betaincc(prior.a, prior.b, p0)))
    after = _log(float(special.betaincc(prior.a + s, prior.b + n - s, p0)))
    return _log_mixture(s, n, p0, prior) + after - before


def log_e_fail(s: float, n: float, p0: float, prior: Prior = FLAT) -> float:
    """Log evidence that the share is below p0; 0 without records."""
    _check(s, n, p0)
    before = _log(float(special.betainc(prior.a, prior.b, p0)))
    after = _log(float(special.betainc(prior.a + s, prior.b + n - s, p0)))
    return _log_mixture(s, n, p0, prior) + after - before


def log_e_differs(s: float, n: float, p0: float, prior: Prior = FLAT) -> float:
    """Log evidence that the share is not p0, on either side (the check of a split)."""
    _check(s, n, p0)
    return _log_mixture(s, n, p0, prior)


def interval(s: float, n: float, alpha: float, prior: Prior = FLAT) -> tuple[float, float]:
    """The shares that the records don't refute at alpha: a confidence sequence, valid at any look.

    It is the set of p with log_e_differs(s, n, p) < log(1/alpha); everything when n is 0.
    """
    if n <= 0:
        return 0.0, 1.0

    def excess(p: float) -> float:
        return log_e_differs(s, n, p, prior) - math.log(1 / alpha)

    edge = 1e-12
    best = min(max(s / n, edge), 1 - edge)
    low = 0.0 if s == 0 or excess(edge) < 0 else _crossing(excess, edge, best)
    high = 1.0 if s == n or excess(1 - edge) < 0 else _crossing(excess, 1 - edge, best)
    return low, high


def divergence(p: float, q: float) -> float:
    """Kullback-Leibler divergence of a coin of share p from one of share q, in nats."""
    return float(special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q))


def needs_more(log_e: float, s: float, n: float, p0: float, alpha: float) -> int | None:
    """About how many more records a pass takes if the observed share goes on; 0 when it is there.

    (log(1/alpha) - log e) / KL(observed, p0). None when the observed share is on the wrong side:
    then nothing is promised.
    """
    if n <= 0 or s / n <= p0:
        return None
    missing = math.log(1 / alpha) - log_e
    return max(0, math.ceil(missing / divergence(s / n, p0)))


def _crossing(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where `excess` falls to 0 between a share that is refuted and one that is not."""
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        outside, inside = (middle, inside) if excess(middle) > 0 else (outside, middle)
    return outside


def _log_mixture(s: float, n: float, p0: float, prior: Prior) -> float:
    gained = special.betaln(prior.a + s, prior.b + n - s) - special.betaln(prior.a, prior.b)
    return float(gained - special.xlogy(s, p0) - special.xlog1py(n - s, -p0))


def _log(probability: float) -> float:
    # A tail that underflows makes the e-value 0: smaller than the truth, and so still valid.
    return math.log(probability) if probability > 0 else -math.inf


def _check(s: float, n: float, p0: float) -> None:
    if not (0 <= s <= n and math.isfinite(n)):
        raise ValueError(f"a share needs 0 <= s <= n, not s={s}, n={n}")
    if not 0 < p0 < 1:
        raise ValueError(f"the required share lies between 0 and 1, not {p0}")
