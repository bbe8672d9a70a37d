"""E-values for a share: attainment, and latency as "at least 95 % are within the bound".

For s of n within the bound and a required share p0, with a Beta(a, b) prior truncated to the
alternative side,

    e_pass = [B(a+s, b+n-s) P(q > p0 | a+s, b+n-s)] / [B(a, b) P(q > p0 | a, b)]
             / (p0^s (1-p0)^(n-s))                                   null: share <= p0
    e_fail = the same with P(q < p0 | ...)                           null: share >= p0

Both are mixture likelihood ratios (Robbins 1970, Ann. Math. Statist. 41; Howard, Ramdas,
McAuliffe, Sekhon 2021, Ann. Statist. 49), so the chance of ever reaching 1/alpha under the null is
below alpha.
Counts may be fractions: deflation for correlated neighbours divides both. Every argument may be a
number or an array, and arrays are broadcast: one test and a thousand take the same code.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Numbers = float | NDArray[np.floating[Any]] | NDArray[np.integer[Any]]

# Newton's steps towards a bound of the interval, which it approaches from outside and never passes;
# a dozen are enough for any counts, the rest is a guard against going on for ever.
_MOST_STEPS = 60
_CLOSE_ENOUGH = 1e-9
# Smaller tails of the beta distribution come out of factors that underflow, with few true digits.
_EXACT_TAIL = 1e-200


@dataclass(frozen=True, slots=True)
class Prior:
    """The Beta prior of the share before any record; (1, 1) favours no share."""

    a: float = 1.0
    b: float = 1.0


FLAT = Prior()


def log_e_pass(s: Numbers, n: Numbers, p0: Numbers, prior: Prior = FLAT) -> Floats:
    """Log evidence that the share is above p0; 0 without records."""
    good, total, due = _checked(s, n, p0)
    before = _log(special.betaincc(prior.a, prior.b, due))
    after = _log(special.betaincc(prior.a + good, prior.b + total - good, due))
    return _log_mixture(good, total, due, prior) + after - before


def log_e_fail(s: Numbers, n: Numbers, p0: Numbers, prior: Prior = FLAT) -> Floats:
    """Log evidence that the share is below p0; 0 without records."""
    good, total, due = _checked(s, n, p0)
    before = _log(special.betainc(prior.a, prior.b, due))
    after = _log(special.betainc(prior.a + good, prior.b + total - good, due))
    return _log_mixture(good, total, due, prior) + after - before


def log_e_differs(s: Numbers, n: Numbers, p0: Numbers, prior: Prior = FLAT) -> Floats:
    """Log evidence that the share is not p0, on either side (the check of a split)."""
    return _log_mixture(*_checked(s, n, p0), prior)


def interval(s: Numbers, n: Numbers, alpha: float, prior: Prior = FLAT) -> tuple[Floats, Floats]:
    """The shares that the records don't refute at alpha: a confidence sequence, valid at any look.

    It is the set of p with log_e_differs(s, n, p) < log(1/alpha); everything when n is 0.
    """
    good, total = floats(s), floats(n)
    least = _log_beta_ratio(good, total, prior) + math.log(alpha)
    # The other end is the lower end of the share outside.
    return _lower(good, total, least), 1 - _lower(total - good, total, least)


def divergence(p: Numbers, q: Numbers) -> Floats:
    """Kullback-Leibler divergence of a coin of share p from one of share q, in nats."""
    one, other = floats(p), floats(q)
    return floats(special.rel_entr(one, other) + special.rel_entr(1 - one, 1 - other))


def floats(given: Numbers) -> Floats:
    """A number or an array of any kind as an array of floats."""
    return np.asarray(given, np.float64)


def needs_more(log_e: float, s: float, n: float, p0: float, alpha: float) -> int | None:
    """About how many more records a pass takes if the observed share goes on; 0 when it is there.

    (log(1/alpha) - log e) / KL(observed, p0). None when the observed share is on the wrong side:
    then nothing is promised.
    """
    if n <= 0 or s / n <= p0:
        return None
    missing = math.log(1 / alpha) - log_e
    return max(0, math.ceil(missing / float(divergence(s / n, p0))))


def _lower(s: Floats, n: Floats, least: Floats) -> Floats:
    """The smaller root of n log(1 + e^x) - s x + least, as a share; x is the share's logit.

    The function is convex, so from anywhere left of its minimum Newton's steps come to the root
    from outside and never pass it. The parabola at the minimum gives a start that is close.
    """
    some = s > 0
    s = np.where(some, s, 1.0)
    n = np.where(some, n, 2.0)
    likely = s / n
    depth = -(least + n * (special.entr(likely) + special.entr(1 - likely)))
    x = np.log(s / (n - s + 1)) - np.sqrt(
        2 * np.maximum(depth, 0) / (n * likely * (1 - likely) + 1)
    )
    for _ in range(_MOST_STEPS):
        excess = n * np.logaddexp(0, x) - s * x + least
        slope = s - n * special.expit(x)
        step = np.where(some & (slope > 0), excess / np.where(slope > 0, slope, 1.0), 0.0)
        x = x + step
        if float(np.max(np.abs(step), initial=0.0)) < _CLOSE_ENOUGH:
            break
    return np.where(some, special.expit(x), 0.0)


def _log_mixture(s: Floats, n: Floats, p0: Floats, prior: Prior) -> Floats:
    gained = _log_beta_ratio(s, n, prior)
    return floats(gained - special.xlogy(s, p0) - special.xlog1py(n - s, -p0))


def _log_beta_ratio(s: Floats, n: Floats, prior: Prior) -> Floats:
    gained = special.betaln(prior.a + s, prior.b + n - s)
    return floats(gained - special.betaln(prior.a, prior.b))


def _log(probability: NDArray[np.floating[Any]]) -> Floats:
    # A tail that underflows makes the e-value 0: smaller than the truth, and so still valid. One
    # that is nearly there has lost digits and could rise where the truth falls.
    kept = np.where(probability < _EXACT_TAIL, 0.0, probability)
    with np.errstate(divide="ignore"):
        return np.log(floats(kept))


def _checked(s: Numbers, n: Numbers, p0: Numbers) -> tuple[Floats, Floats, Floats]:
    good, total, due = floats(s), floats(n), floats(p0)
    if not (np.all((good >= 0) & (good <= total)) and np.all(np.isfinite(total))):
        raise ValueError(f"a share needs 0 <= s <= n, not s={s}, n={n}")
    if not np.all((due > 0) & (due < 1)):
        raise ValueError(f"the required share lies between 0 and 1, not {p0}")
    return good, total, due
