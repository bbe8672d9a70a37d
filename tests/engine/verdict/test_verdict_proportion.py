"""E-values of a share: known values, validity under peeking, and what is still needed."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchid.engine.verdict import proportion
from orchid.engine.verdict.proportion import Floats, Prior

counts = st.integers(0, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def looks(share: float, runs: int, most: int) -> tuple[Floats, Floats]:
    """How many records were good after each of the first `most`, in each of some runs."""
    good = np.random.default_rng(11).random((runs, most)) < share
    return np.cumsum(good, axis=1).astype(float), np.arange(1.0, most + 1)


@pytest.mark.parametrize(
    ("within", "total", "expected"),
    [
        (49, 50, 1.11),
        (74, 74, 6.52),
        (120, 120, 27.5),
        (970, 1000, 1.32),
        (980, 1000, 158),
        (1960, 2000, 63_600),
    ],
)
def test_evidence_for_a_share_above_96_percent(within: int, total: int, expected: float) -> None:
    assert math.exp(proportion.log_e_pass(within, total, 0.96)) == pytest.approx(expected, rel=5e-3)


def test_evidence_for_a_share_below_96_percent() -> None:
    assert math.exp(proportion.log_e_fail(900, 1000, 0.96)) == pytest.approx(9.2e12, rel=5e-3)


def test_without_records_there_is_no_evidence_either_way() -> None:
    assert proportion.log_e_pass(0, 0, 0.96) == 0
    assert proportion.log_e_fail(0, 0, 0.96) == 0
    low, high = proportion.interval(0, 0, 0.05)
    assert (float(low), float(high)) == (0.0, 1.0)


@given(counts, st.floats(0.01, 0.99))
def test_no_counts_make_an_e_value_undefined(pair: tuple[int, int], p0: float) -> None:
    for log_e in (proportion.log_e_pass(*pair, p0), proportion.log_e_fail(*pair, p0)):
        assert not math.isnan(log_e)


@given(counts, st.floats(0.5, 0.99))
@example((2672, 2676), 0.759765625)  # a tail of a subnormal probability
def test_one_more_good_record_never_weakens_a_pass(pair: tuple[int, int], p0: float) -> None:
    s, n = pair
    before = proportion.log_e_pass(s, n, p0)
    after = proportion.log_e_pass(s + 1, n + 1, p0)
    assert after >= before - 1e-9
    assert proportion.log_e_fail(s + 1, n + 1, p0) <= proportion.log_e_fail(s, n, p0) + 1e-9


@given(counts.filter(lambda pair: pair[1] > 0))
def test_the_interval_holds_the_observed_share(pair: tuple[int, int]) -> None:
    low, high = proportion.interval(*pair, 0.05)
    assert low <= pair[0] / pair[1] <= high


def test_looking_after_every_record_rarely_passes_a_share_at_its_bound() -> None:
    within, n = looks(share=0.96, runs=200, most=400)
    passed = (proportion.log_e_pass(within, n, 0.96) >= math.log(20)).any(axis=1)
    assert passed.sum() <= 18  # 5 % of 200 is 10; three standard deviations above is 19


def test_a_clear_pass_comes_after_about_three_hundred_records() -> None:
    within, n = looks(share=0.984, runs=60, most=2000)
    passed = proportion.log_e_pass(within, n, 0.96) >= math.log(20)
    stops = np.where(passed.any(axis=1), passed.argmax(axis=1), n.size)
    assert 200 < np.median(stops) < 450


def test_what_is_needed_follows_from_the_rate_observed() -> None:
    log_e = float(proportion.log_e_pass(49, 50, 0.96))
    expected = (math.log(20) - log_e) / proportion.divergence(0.98, 0.96)
    assert proportion.needs_more(log_e, 49, 50, 0.96, 0.05) == math.ceil(expected)


@pytest.mark.parametrize("within", [0, 90, 96])
def test_nothing_is_promised_on_the_wrong_side(within: int) -> None:
    log_e = float(proportion.log_e_pass(within, 100, 0.96))
    assert proportion.needs_more(log_e, within, 100, 0.96, 0.05) is None


def test_a_prior_near_the_target_speaks_earlier() -> None:
    informed = proportion.log_e_pass(300, 300, 0.96, Prior(48, 2))
    assert informed > math.log(20)


@pytest.mark.parametrize(("s", "n", "p0"), [(2, 1, 0.9), (-1, 1, 0.9), (1, 1, 1.0), (1, 1, 0.0)])
def test_impossible_counts_are_refused(s: int, n: int, p0: float) -> None:
    with pytest.raises(ValueError, match="share"):
        proportion.log_e_pass(s, n, p0)
