"""The interval of a percentile holds it as often as it says, and says so where it can't."""

import math

import numpy as np

from orchid.engine.histogram import bucket_of
from orchid.engine.rank_interval import percentile_interval_ms


def counted(values: list[float]) -> dict[int, int]:
    found: dict[int, int] = {}
    for value in values:
        found[bucket_of(value)] = found.get(bucket_of(value), 0) + 1
    return found


def test_the_ranks_of_a_hundred_are_those_of_the_binomial() -> None:
    """For n = 100 and q = 0.95 the 90th and the 100th value: P(X < 90) = 0.0115 <= 0.025."""
    hundred = counted([float(ms) for ms in range(1, 101)])
    assert percentile_interval_ms(hundred, 0.95) == (90.0, 100.0)


def test_few_samples_bound_a_tail_on_one_side_only() -> None:
    low, high = percentile_interval_ms(counted([10.0, 20.0, 30.0]), 0.95) or (0.0, 0.0)
    assert low == 20.0  # P(X < 2) = 0.7 %, P(X < 3) = 14 %
    assert math.isinf(high)
    assert percentile_interval_ms({}, 0.95) is None


def test_correlated_samples_widen_it() -> None:
    many = counted([float(ms) for ms in range(1, 2001)])
    plain = percentile_interval_ms(many, 0.95) or (0.0, 0.0)
    deflated = percentile_interval_ms(many, 0.95, effect=10) or (0.0, 0.0)
    assert deflated[0] < plain[0] < plain[1] < deflated[1]


def test_it_holds_the_percentile_as_often_as_it_says() -> None:
    dice, truth, held = np.random.default_rng(7), -100 * math.log(0.05), 0
    for _ in range(400):
        ends = percentile_interval_ms(counted(dice.exponential(100, 300).tolist()), 0.95)
        assert ends is not None
        held += ends[0] <= truth <= ends[1]
    assert held >= 0.93 * 400
