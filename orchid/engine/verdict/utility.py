"""The task utility index: a stratified mean of bounded scores over the observed mix.

Every cell (segment x route x manifest) has evidence: scores in [0, 1] item by item, or their n,
mean and standard deviation. The index weighs the cells by the responses observed, so its interval
adds up what may be off for up to three reasons, each with its part of the error chance:

* the evidence with item scores: an empirical Bernstein bound. With theta = lambda w/n for an item
  of a cell with n items and weight w,

      prod over items of exp(theta (x - mu) - (x - m)^2 (-log(1 - theta) - theta))

  has mean at most 1, where m is the running mean of the cell's items before x (Howard, Ramdas,
  McAuliffe, Sekhon 2021; Waudby-Smith, Ramdas 2024, J. R. Stat. Soc. B 86, theorem 2). It is
  averaged over a few lambda, each the best for one guess of the deviation;
* the evidence without: Bernstein's inequality for the weighted sum of independent cell means, with
  each true deviation bounded from above by the sample's (Maurer, Pontil 2009, theorem 10);
* the mix: a normal-mixture confidence sequence for a bounded variable (Robbins 1970; Howard,
  Ramdas, McAuliffe, Sekhon 2021, section 3), because the mix is looked at all the time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchid.engine.verdict.proportion import Floats
from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import needs_text, share_text

CLOSED_FORM = "closed form from n, mean and spread"
BY_ITEM = "empirical Bernstein from item scores"

# Responses at which the mixture of the mix's bound is tightest; any value is valid.
_TUNED_AT = 500.0
# Deviations of item scores for which one of the averaged bounds is the best.
_GUESSES = np.array([0.02, 0.05, 0.1, 0.2, 0.4])
# theta has to stay below 1.
_MOST_THETA = 0.75
# Newton's steps towards the average's root, from the side on which stopping early is safe.
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Scores:
    """Evidence of one cell: items, their mean score and its standard deviation.

    `variation` is that of the scores one by one, where they were given; it makes the bound sharper.
    """

    n: int
    mean: float
    spread: float
    variation: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One part of the mix: its name, its responses, and its evidence where there is any."""

    name: str
    responses: int
    scores: Scores | None


def index_of(cells: Sequence[Cell]) -> float | None:
    """The utility index over the observed mix; None without responses or without evidence."""
    total = sum(cell.responses for cell in cells)
    if not total or missing(cells):
        return None
    return sum(c.responses / total * c.scores.mean for c in cells if c.scores is not None)


def missing(cells: Sequence[Cell]) -> list[str]:
    """Cells that carry traffic and have no evidence of at least two items."""
    return [c.name for c in cells if c.responses and (c.scores is None or c.scores.n < 2)]


def reach(cells: Sequence[Cell], delta: float) -> float:
    """How far the index may be from the truth on one side, but for a chance of `delta`."""
    served = [(c.responses, c.scores) for c in cells if c.responses and c.scores is not None]
    total = sum(responses for responses, _ in served)
    weighted = [(responses / total, scores) for responses, scores in served]
    by_item = [(w, scores) for w, scores in weighted if scores.variation is not None]
    closed = [(w, scores) for w, scores in weighted if scores.variation is None]
    each = delta / 2 / (bool(by_item) + bool(closed))
    evidence = (_items_reach(by_item, each) if by_item else 0.0) + (
        _closed_reach(closed, each) if closed else 0.0
    )
    return evidence + _mix_reach(weighted, total, delta / 2)


def method_of(cells: Sequence[Cell]) -> str:
    """How the evidence behind the cells is bounded, in words."""
    kinds = {c.scores.variation is not None for c in cells if c.responses and c.scores is not None}
    if kinds == {True, False}:
        return f"{BY_ITEM} where given, else {CLOSED_FORM}"
    return BY_ITEM if kinds == {True} else CLOSED_FORM


def judge(
    segment: str,
    cells: Sequence[Cell],
    least: float,
    minimum: int,
    levels: Levels,
    *,
    metric: str = "utility",
    fragile_margin: float = 0.0,
) -> Result:
    """The index is at least `least`: passes by its lower bound, fails by its upper one."""
    used = [cell for cell in cells if cell.responses]
    n, value = sum(cell.responses for cell in used), index_of(used)
    if value is None:
        return _without_value(metric, segment, used, least, n, minimum)
    low = max(0.0, value - reach(used, levels.alpha_pass))
    high = min(1.0, value + reach(used, levels.alpha_each_fail))
    verdict = _decide(low, high, least, n, minimum)
    return Result(
        metric=metric,
        segment=segment,
        verdict=verdict,
        bound=f"{least:g}",
        message=_words(verdict, value, (low, high), least, (n, minimum), method_of(used)),
        value=f"{value:.6f}",
        margin=f"{value - least:.6f}",
        low=low,
        high=high,
        n=n,
        n_effective=float(n),
        minimum=minimum,
        needs=max(0, minimum - n) or None,
        fragile=verdict is Verdict.PASS and value - least < fragile_margin * least,
    )


def _items_reach(weighted: Sequence[tuple[float, Scores]], delta: float) -> float:
    weights = np.array([w / s.n for w, s in weighted])
    variations = np.array([s.variation or 0.0 for _, s in weighted])
    counts = np.array([s.n for _, s in weighted])
    log = math.log(1 / delta)
    best = np.sqrt(2 * log / float(np.sum(weights**2 * counts))) / _GUESSES
    rates = np.minimum(best, _MOST_THETA / float(weights.max()))
    theta = rates[:, None] * weights
    paid = ((-np.log1p(-theta) - theta) * variations).sum(axis=1)
    return _root(rates, paid, log)


def _root(rates: Floats, paid: Floats, log: float) -> float:
    """Where the mean of exp(rate x reach - paid) comes to exp(log)."""
    size = math.log(len(rates))
    reach = float(np.min((log + size + paid) / rates))
    for _ in range(_STEPS):
        logs = rates * reach - paid
        top = float(logs.max())
        parts = np.exp(logs - top)
        value = top + math.log(float(parts.sum())) - size
        reach -= (value - log) * float(parts.sum()) / float(parts @ rates)
    return reach


def variation(items: Sequence[float]) -> float:
    """The squares of scores about the mean of those before each, which begins at a half.

    The order is that of the evidence: the bound holds for any that the scores did not choose.
    """
    scores = np.array(items)
    before = np.cumsum(scores) - scores
    squares = float(np.sum((scores - (before + 0.5) / (np.arange(len(items)) + 1)) ** 2))
    # Ten digits are the same on every machine, however it sums up.
    return float(f"{squares:.10g}")


def _closed_reach(weighted: Sequence[tuple[float, Scores]], delta: float) -> float:
    per_cell = delta / 2 / len(weighted)
    log = math.log(2 / delta)
    variance = sum(w**2 * _deviation(s, per_cell) ** 2 / s.n for w, s in weighted)
    widest = max(w / s.n for w, s in weighted) * log / 3
    return widest + math.sqrt(widest**2 + 2 * variance * log)


def _deviation(scores: Scores, delta: float) -> float:
    """Upper bound of the true standard deviation, at most 1/2 for scores in [0, 1]."""
    return min(0.5, scores.spread + math.sqrt(2 * math.log(1 / delta) / (scores.n - 1)))


def _mix_reach(weighted: Sequence[tuple[float, Scores]], total: int, delta: float) -> float:
    means = [scores.mean for _, scores in weighted]
    proxy = ((max(means) - min(means)) / 2) ** 2
    if not proxy:
        return 0.0
    time, tuned = total * proxy, _TUNED_AT * proxy
    return math.sqrt((time + tuned) * math.log((time + tuned) / (tuned * delta**2))) / total


def _decide(low: float, high: float, least: float, n: int, minimum: int) -> Verdict:
    if n < minimum:
        return Verdict.INCONCLUSIVE
    if high < least:
        return Verdict.FAIL
    return Verdict.PASS if low >= least else Verdict.INCONCLUSIVE


def _words(
    verdict: Verdict,
    value: float,
    between: tuple[float, float],
    least: float,
    sample: tuple[int, int],
    method: str,
) -> str:
    n, minimum = sample
    sign = ">=" if value >= least else "<"
    said = f"{verdict}: {value:.4f} {sign} {least:g} over {n:,} responses"
    if n < minimum:
        short = needs_text(minimum - n, None)
        said += f"; {n:,} of {minimum:,} in the minimum sample{short}"
    return f"{said}; between {between[0]:.4f} and {between[1]:.4f} ({method})"


def _without_value(
    metric: str, segment: str, cells: Sequence[Cell], least: float, n: int, minimum: int
) -> Result:
    absent = missing(cells)
    total = sum(cell.responses for cell in cells)
    if absent:
        share = sum(c.responses for c in cells if c.name in absent) / total
        message = f"no data: no evidence for {', '.join(absent)} ({share_text(share)} of responses)"
    else:
        message = f"no data: 0 of {max(minimum, 1):,} responses"
    return Result(metric, segment, Verdict.NO_DATA, f"{least:g}", message, n=n, minimum=minimum)
