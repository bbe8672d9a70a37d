"""Latency and attainment as shares: verdict, minimum sample, deflation, wording."""

import math

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.shares import Counts, attainment, latency

LEVELS = Levels(alpha_pass=0.05, alpha_fail=0.01)
INDEPENDENT = 1.0


def judged(within: int, total: int, minimum: int = 200, effect: float = 1.0) -> Result:
    counts = Counts(within, total, minimum, effect)
    return attainment("", counts, 0.96, LEVELS)


def test_each_verdict_has_its_counts() -> None:
    assert judged(1960, 2000).verdict is Verdict.PASS
    assert judged(900, 1000).verdict is Verdict.FAIL
    assert judged(970, 1000).verdict is Verdict.INCONCLUSIVE
    assert judged(0, 0).verdict is Verdict.NO_DATA


def test_under_the_minimum_sample_nothing_is_decided() -> None:
    for within in (0, 150, 199):
        result = judged(within, 199)
        assert result.verdict is Verdict.INCONCLUSIVE
        assert "199 of 200" in result.message


def test_no_record_is_said_with_the_minimum() -> None:
    assert judged(0, 0).message == "no data: 0 of 200 requests"


def test_correlated_records_count_less() -> None:
    assert judged(980, 1000).verdict is Verdict.PASS
    deflated = judged(980, 1000, effect=4.0)
    assert deflated.verdict is Verdict.INCONCLUSIVE
    assert (deflated.n, deflated.n_effective) == (1000, 250.0)
    assert "design effect 4.00" in deflated.message


def test_a_required_share_of_one_fails_at_the_first_miss() -> None:
    counts = Counts(999, 1000, 200, INDEPENDENT)
    assert attainment("", counts, 1.0, LEVELS).verdict is Verdict.FAIL


def test_latency_names_value_bound_share_and_evidence() -> None:
    result = latency(
        "completion_p95_ms", "", Counts(3920, 4210, 200, INDEPENDENT), 1500, 1640, LEVELS
    )
    assert result.verdict is Verdict.FAIL
    assert (result.value, result.bound, result.margin) == ("1640", "1500", "-140")
    for part in ("93.11 % of 4,210", "1,500 ms", "1,640 ms", "95 % are due", "e = "):
        assert part in result.message


def test_a_tail_that_never_completed_has_no_number() -> None:
    counts = Counts(900, 1000, 200, INDEPENDENT)
    result = latency("completion_p95_ms", "", counts, 1500, math.inf, LEVELS)
    assert (result.value, result.margin) == (None, None)
    assert "p95 not completed" in result.message


def test_a_narrow_pass_is_fragile() -> None:
    counts = Counts(1990, 2000, 200, INDEPENDENT)
    near = latency("completion_p95_ms", "", counts, 1500, 1490, LEVELS, fragile_margin=0.01)
    far = latency("completion_p95_ms", "", counts, 1500, 1310, LEVELS, fragile_margin=0.01)
    assert (near.fragile, far.fragile) == (True, False)


@given(st.integers(0, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_more_good_records_never_turn_a_pass_into_a_fail(pair: tuple[int, int]) -> None:
    within, total = pair
    more = judged(within + 50, total + 50)
    if judged(within, total).verdict is Verdict.PASS:
        assert more.verdict is Verdict.PASS
    if more.verdict is Verdict.FAIL:
        assert judged(within, total).verdict in {
            Verdict.FAIL,
            Verdict.INCONCLUSIVE,
            Verdict.NO_DATA,
        }
