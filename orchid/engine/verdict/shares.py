"""Judges a share against the one required: attainment, and every latency gate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchid.engine.verdict import proportion
from orchid.engine.verdict.proportion import FLAT, Floats, Numbers, Prior, floats
from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import e_text, ms_text, needs_text, seconds_for, share_text

LATENCY_SHARE = 0.95
"""What "p95 within the bound" says about the share within it."""

# A required share of exactly 0 or 1 has no odds; this far inside, one miss already decides.
_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Counts:
    """`within` of `total` requests are good.

    `effect` is the design effect, which deflates both for correlated neighbours; `rate_per_s` is
    how many requests of the population end in a second at present, None when unknown.
    """

    within: int
    total: int
    minimum: int
    effect: float
    rate_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """Many shares against the ones required, an array each: what `Tested` says of one."""

    log_e_pass: Floats
    log_e_fail: Floats
    low: Floats
    high: Floats
    n_effective: Floats


@dataclass(frozen=True, slots=True)
class Tested:
    """The outcome of testing a share, before it is put into words."""

    verdict: Verdict
    log_e_pass: float
    log_e_fail: float
    low: float
    high: float
    n_effective: float
    needs: int | None


def weigh_all(
    within: Numbers,
    total: Numbers,
    effects: Numbers,
    required: Numbers,
    levels: Levels,
    prior: Prior = FLAT,
) -> Weighed:
    """Test many shares at once on their deflated counts; the arguments broadcast."""
    p0 = np.clip(floats(required), _EDGE, 1 - _EDGE)
    n = floats(total) / floats(effects)
    s = floats(within) / floats(effects)
    good = proportion.log_e_pass(s, n, p0, prior)
    bad = proportion.log_e_fail(s, n, p0, prior)
    low, high = proportion.interval(s, n, levels.alpha_pass, prior)
    return Weighed(good, bad, low, high, n)


def weigh(counts: Counts, required: float, levels: Levels, prior: Prior = FLAT) -> Tested:
    """Test the share behind `counts` against `required`."""
    return judge_all([counts], [required], levels, prior)[0]


def judge_all(
    counts: Sequence[Counts], required: Sequence[float], levels: Levels, prior: Prior = FLAT
) -> list[Tested]:
    """Test the share behind each of `counts` against its own requirement."""
    rows = [(c.within, c.total, c.effect) for c in counts]
    within, total, effects = np.array(rows, float).reshape(-1, 3).T
    weighed = weigh_all(within, total, effects, np.asarray(required, float), levels, prior)
    columns = (getattr(weighed, name).tolist() for name in Weighed.__slots__)
    return [
        _tested(*given, levels)
        for given in zip(counts, required, zip(*columns, strict=True), strict=True)
    ]


def _tested(counts: Counts, required: float, figures: tuple[float, ...], levels: Levels) -> Tested:
    good, bad, low, high, n = figures
    verdict = _decide(counts, good, bad, levels)
    needs = _needs(verdict, counts, good, n, required, levels)
    return Tested(verdict, good, bad, low, high, n, needs)


def latency(
    metric: str,
    segment: str,
    counts: Counts,
    bound_ms: float,
    shown_ms: float | None,
    levels: Levels,
    *,
    exact: bool = True,
    fragile_margin: float = 0.0,
    prior: Prior = FLAT,
    tested: Tested | None = None,
) -> Result:
    """At least 95 % of the ended requests are within the bound; `shown_ms` is their p95.

    `tested` is given where many shares were weighed at once.
    """
    tested = tested or weigh(counts, LATENCY_SHARE, levels, prior)
    margin = None if shown_ms is None or math.isinf(shown_ms) else bound_ms - shown_ms
    message = _words(tested, counts, LATENCY_SHARE, f"within {ms_text(bound_ms)}")
    if shown_ms is not None:
        message += f"; p95 {ms_text(shown_ms)} by nearest rank"
    if not exact:
        message += "; the bound was not counted exactly and is read on its unfavourable side"
    value = None if margin is None else f"{bound_ms - margin:g}"
    texts = (value, f"{bound_ms:g}", None if margin is None else f"{margin:g}")
    tight = margin is not None and 0 <= margin < fragile_margin * bound_ms
    return _result(metric, segment, counts, tested, texts, message, tight)


def attainment(
    segment: str,
    counts: Counts,
    required: float,
    levels: Levels,
    *,
    fragile_margin: float = 0.0,
    prior: Prior = FLAT,
    tested: Tested | None = None,
) -> Result:
    """At least `required` of the eligible offered requests are successes."""
    tested = tested or weigh(counts, required, levels, prior)
    message = _words(tested, counts, required, "successful")
    if not counts.total:
        nothing = (None, f"{required:g}", None)
        return _result("attainment", segment, counts, tested, nothing, message)
    share = counts.within / counts.total
    texts = (f"{share:.6f}", f"{required:g}", f"{share - required:.6f}")
    tight = 0 <= share - required < fragile_margin * required
    return _result("attainment", segment, counts, tested, texts, message, tight)


def _decide(counts: Counts, good: float, bad: float, levels: Levels) -> Verdict:
    if counts.total == 0:
        return Verdict.NO_DATA
    if counts.total < counts.minimum:
        return Verdict.INCONCLUSIVE
    if bad >= -math.log(levels.alpha_each_fail):
        return Verdict.FAIL
    if good >= -math.log(levels.alpha_pass):
        return Verdict.PASS
    return Verdict.INCONCLUSIVE


def _needs(
    verdict: Verdict, counts: Counts, log_e: float, n: float, required: float, levels: Levels
) -> int | None:
    """Records still missing for a pass, in real and not in deflated records."""
    if verdict is not Verdict.INCONCLUSIVE:
        return None
    s, p0 = counts.within / counts.effect, min(max(required, _EDGE), 1 - _EDGE)
    more = proportion.needs_more(log_e, s, n, p0, levels.alpha_pass)
    short = max(0, counts.minimum - counts.total)
    if more is None:
        return short or None
    return max(math.ceil(more * counts.effect), short)


def _words(tested: Tested, counts: Counts, required: float, what: str) -> str:
    if counts.total == 0:
        return f"no data: 0 of {max(counts.minimum, 1):,} requests"
    due = f"{share_text(required)} are due"
    said = f"{share_text(counts.within / counts.total)} of {counts.total:,} {what} where {due}"
    name = "inconclusive" if tested.verdict is Verdict.INCONCLUSIVE else tested.verdict.value
    evidence = _evidence(tested, counts)
    return f"{name}: {said} ({evidence}){_still_needed(tested, counts)}"


def _evidence(tested: Tested, counts: Counts) -> str:
    log_e = tested.log_e_fail if tested.verdict is Verdict.FAIL else tested.log_e_pass
    text = f"e = {e_text(log_e)}"
    if counts.effect > 1:
        alone = tested.n_effective
        text += f"; design effect {counts.effect:.2f}: as good as {alone:,.0f} independent ones"
    return text


def _still_needed(tested: Tested, counts: Counts) -> str:
    if counts.total < counts.minimum:
        said = f"; {counts.total:,} of {counts.minimum:,} in the minimum sample"
    elif tested.verdict is Verdict.INCONCLUSIVE and tested.needs is None:
        said = "; the share observed does not lead to a pass"
    else:
        said = ""
    return said + (needs_text(tested.needs, counts.rate_per_s) if tested.needs else "")


def _result(
    metric: str,
    segment: str,
    counts: Counts,
    tested: Tested,
    texts: tuple[str | None, str, str | None],
    message: str,
    tight: bool = False,
) -> Result:
    value, bound, margin = texts
    return Result(
        metric=metric,
        segment=segment,
        verdict=tested.verdict,
        bound=bound,
        message=message,
        value=value,
        margin=margin,
        low=tested.low,
        high=tested.high,
        n=counts.total,
        n_effective=tested.n_effective,
        minimum=counts.minimum,
        log_e_pass=tested.log_e_pass,
        log_e_fail=tested.log_e_fail,
        needs=tested.needs,
        needs_s=seconds_for(tested.needs, counts.rate_per_s),
        fragile=tight and tested.verdict is Verdict.PASS,
    )
