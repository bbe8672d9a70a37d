"""Many shares weighed at once say what each says alone, and soon enough for many segments."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.verdict import proportion, shares
from orchid.engine.verdict.proportion import Prior
from orchid.engine.verdict.result import Levels, Verdict
from orchid.engine.verdict.shares import Counts

LEVELS = Levels(alpha_pass=0.05, alpha_fail=0.01)
counted = st.integers(0, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(st.tuples(counted, st.floats(1, 50)), min_size=1, max_size=8), st.floats(0.5, 0.99))
def test_a_vector_says_what_every_scalar_says(
    rows: list[tuple[tuple[int, int], float]], p0: float
) -> None:
    s, n = (np.array([pair[place] for pair, _ in rows]) for place in (0, 1))
    effects = np.array([effect for _, effect in rows])
    together = shares.weigh_all(s, n, effects, p0, LEVELS)
    for place, ((within, total), effect) in enumerate(rows):
        alone = shares.weigh(Counts(within, total, 1, effect), p0, LEVELS)
        assert together.log_e_pass[place] == pytest.approx(alone.log_e_pass)
        assert together.log_e_fail[place] == pytest.approx(alone.log_e_fail)
        assert together.low[place] == pytest.approx(alone.low, abs=1e-8)
        assert together.high[place] == pytest.approx(alone.high, abs=1e-8)


@given(counted, st.floats(0.01, 0.99))
def test_good_and_bad_are_mirror_images(pair: tuple[int, int], p0: float) -> None:
    s, n = pair
    above = float(proportion.log_e_pass(s, n, p0, Prior(3, 2)))
    below = float(proportion.log_e_fail(n - s, n, 1 - p0, Prior(2, 3)))
    assert above == pytest.approx(below, rel=1e-6, abs=1e-6) or above == below
    low, high = proportion.interval(s, n, 0.05)
    mirrored = proportion.interval(n - s, n, 0.05)
    assert (float(low), float(high)) == pytest.approx(
        (1 - float(mirrored[1]), 1 - float(mirrored[0])), abs=1e-8
    )


@given(counted.filter(lambda pair: pair[1] > 0), st.floats(0.001, 0.5))
def test_the_interval_ends_where_the_evidence_reaches_its_level(
    pair: tuple[int, int], alpha: float
) -> None:
    low, high = proportion.interval(*pair, alpha)
    for end in (float(low), float(high)):
        if 1e-6 < end < 1 - 1e-6:
            found = float(proportion.log_e_differs(*pair, end))
            assert found == pytest.approx(-math.log(alpha), abs=1e-4)


@pytest.mark.parametrize(
    ("s", "n", "bounds"),
    [(0, 0, (0.0, 1.0)), (74, 74, (0.90590, 1.0)), (970, 1000, (0.94468, 0.98626))],
)
def test_known_intervals(s: int, n: int, bounds: tuple[float, float]) -> None:
    low, high = proportion.interval(s, n, 0.05)
    assert (float(low), float(high)) == pytest.approx(bounds, abs=1e-5)


def test_a_prior_of_the_policy_changes_when_a_pass_comes_and_not_what_is_observed() -> None:
    counts = Counts(315, 315, 200, 3.0)
    flat = shares.attainment("", counts, 0.96, LEVELS)
    informed = shares.attainment("", counts, 0.96, LEVELS, prior=Prior(24, 1))
    assert (flat.verdict, informed.verdict) == (Verdict.INCONCLUSIVE, Verdict.PASS)
    assert flat.value == informed.value


def test_what_is_needed_is_told_in_requests_and_in_time() -> None:
    counts = Counts(980, 1000, 200, 4.0, rate_per_s=2.5)
    result = shares.attainment("", counts, 0.96, LEVELS)
    assert result.needs is not None
    assert result.needs_s == pytest.approx(result.needs / 2.5)
    assert f"needs about {result.needs:,} more requests, about " in result.message
    assert "at the present rate" in result.message
    assert "design effect 4.00: as good as 250 independent ones" in result.message


def test_without_traffic_no_time_is_promised() -> None:
    counts = Counts(150, 150, 200, 1.0, rate_per_s=0.0)
    result = shares.attainment("", counts, 0.96, LEVELS)
    assert (result.needs, result.needs_s) == (50, None)
    assert "needs about 50 more requests; none come at present" in result.message


def test_a_thousand_shares_are_weighed_in_the_time_of_a_glance() -> None:
    generator = np.random.default_rng(4)
    n = generator.integers(200, 200_000, 1000)
    s = generator.binomial(n, generator.uniform(0.9, 1, 1000))
    effects = generator.uniform(1, 20, 1000)
    spent = []
    for _ in range(5):
        began = time.process_time()
        shares.weigh_all(s, n, effects, 0.96, LEVELS)
        spent.append(time.process_time() - began)
    # 8 ms on one quiet core; the benchmark judges the time, this only an accident of another order.
    assert min(spent) < 0.1
