"""The task utility index: a stratified mean of bounded scores over the observed mix.

Every cell (segment x route x manifest) has evidence given as n, mean and standard deviation of
scores in [0, 1]. The index weighs the cells by the responses observed, so its interval has two
parts:

* the evidence: Bernstein's inequality for the weighted sum of independent cell means, with each
  true deviation bounded from above by the sample's (Maurer, Pontil 2009, theorem 10);
* the mix: a normal-mixture confidence sequence for a bounded variable (Robbins 1970; Howard,
  Ramdas, McAuliffe, Sekhon 2021, section 3), because the mix is looked at all the time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import share_text

METHOD = "closed form from n, mean and spread"

# Responses at which the mixture of the mix's bound is tightest; any value is valid.
_TUNED_AT = 500.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Evidence of one cell: items, their mean score and its standard deviation."""

    n: int
    mean: float
    spread: float


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
    return _evidence_reach(weighted, delta / 2) + _mix_reach(weighted, total, delta / 2)


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
        message=_words(verdict, value, low, high, least, n, minimum),
        value=f"{value:.6f}",
        margin=f"{value - least:.6f}",
        low=low,
        high=high,
        n=n,
        n_effective=float(n),
        minimum=minimum,
        fragile=verdict is Verdict.PASS and value - least < fragile_margin * least,
    )


def _evidence_reach(weighted: Sequence[tuple[float, Scores]], delta: float) -> float:
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
    verdict: Verdict, value: float, low: float, high: float, least: float, n: int, minimum: int
) -> str:
    sign = ">=" if value >= least else "<"
    said = f"{verdict}: {value:.4f} {sign} {least:g} over {n:,} responses"
    if n < minimum:
        said += f"; {n:,} of {minimum:,} in the minimum sample"
    return f"{said}; between {low:.4f} and {high:.4f} ({METHOD})"


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
