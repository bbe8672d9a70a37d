"""Judges a share against the one required: attainment, and every latency gate."""

import math
from dataclasses import dataclass

from orchid.engine.verdict import proportion
from orchid.engine.verdict.proportion import FLAT, Prior
from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import e_text, ms_text, share_text

LATENCY_SHARE = 0.95
"""What "p95 within the bound" says about the share within it."""

# A required share of exactly 0 or 1 has no odds; this far inside, one miss already decides.
_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Counts:
    """`within` of `total` requests are good.

    `effect` is the design effect, which deflates both for correlated neighbours.
    """

    within: int
    total: int
    minimum: int
    effect: float


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


def weigh(counts: Counts, required: float, levels: Levels, prior: Prior = FLAT) -> Tested:
    """Test the share behind `counts` against `required`, on the deflated counts."""
    p0 = min(max(required, _EDGE), 1 - _EDGE)
    n = counts.total / counts.effect
    s = counts.within / counts.effect
    good = proportion.log_e_pass(s, n, p0, prior)
    bad = proportion.log_e_fail(s, n, p0, prior)
    low, high = proportion.interval(s, n, levels.alpha_pass, prior)
    verdict = _decide(counts, good, bad, levels)
    needs = _needs(verdict, counts, good, s, n, p0, levels)
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
) -> Result:
    """At least 95 % of the ended requests are within the bound; `shown_ms` is their p95."""
    tested = weigh(counts, LATENCY_SHARE, levels)
    margin = None if shown_ms is None or math.isinf(shown_ms) else bound_ms - shown_ms
    message = _words(tested, counts, LATENCY_SHARE, f"within {ms_text(bound_ms)}")
    if shown_ms is not None:
        message += f"; p95 {ms_text(shown_ms)} by nearest rank"
    if not exact:
        message += "; the bound was not counted exactly and is read on its unfavourable side"
    value = None if margin is None else f"{bound_ms - margin:g}"
    tight = margin is not None and 0 <= margin < fragile_margin * bound_ms
    texts = (value, f"{bound_ms:g}", None if margin is None else f"{margin:g}")
    return _result(metric, segment, counts, tested, texts, message, tight)


def attainment(
    segment: str,
    counts: Counts,
    required: float,
    levels: Levels,
    *,
    fragile_margin: float = 0.0,
) -> Result:
    """At least `required` of the eligible offered requests are successes."""
    tested = weigh(counts, required, levels)
    message = _words(tested, counts, required, "successful")
    if not counts.total:
        return _result(
            "attainment", segment, counts, tested, (None, f"{required:g}", None), message
        )
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
    verdict: Verdict,
    counts: Counts,
    log_e: float,
    s: float,
    n: float,
    p0: float,
    levels: Levels,
) -> int | None:
    """Records still missing for a pass, in real and not in deflated records."""
    if verdict is not Verdict.INCONCLUSIVE:
        return None
    more = proportion.needs_more(log_e, s, n, p0, levels.alpha_pass)
    if more is None:
        return None
    return max(math.ceil(more * counts.effect), counts.minimum - counts.total)


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
        text += f", design effect {counts.effect:.2f}"
    return text


def _still_needed(tested: Tested, counts: Counts) -> str:
    if counts.total < counts.minimum:
        return f"; {counts.total:,} of {counts.minimum:,} in the minimum sample"
    if tested.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if tested.needs is None:
        return "; the share observed does not lead to a pass"
    return f"; needs about {tested.needs:,} more requests"


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
        fragile=tight and tested.verdict is Verdict.PASS,
    )
