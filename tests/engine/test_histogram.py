"""The histogram's grid, its percentiles and what merging may not change."""

import hashlib
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine import histogram

durations = st.lists(st.floats(min_value=0, max_value=1e8), max_size=60)


def counted(values: list[float]) -> dict[int, int]:
    return histogram.merge_all({histogram.bucket_of(value): 1} for value in values)


def test_nearest_rank_is_the_one_method() -> None:
    tens = counted([float(value) for value in range(10, 101, 10)])
    assert histogram.percentile_ms(tens, 0.5) == 50
    assert histogram.percentile_ms(counted([1.0, 2.0]), 0.95) == 2.0
    assert histogram.percentile_ms(counted([1.0]), 0.95) == 1.0


def test_an_empty_histogram_has_no_percentile() -> None:
    assert histogram.percentile_ms({}, 0.95) is None


def test_merged_edges_pool_their_requests_and_average_nothing() -> None:
    fast, slow = counted([10.0] * 1000), counted([2000.0] * 10)
    assert histogram.percentile_ms(histogram.merge(fast, slow), 0.95) == 10.0


def test_a_pooled_tail_is_seen_whatever_the_minutes_say() -> None:
    minutes = [counted([1200.0] * 180 + [4000.0] * 20) for _ in range(10)]
    assert histogram.percentile_ms(histogram.merge_all(minutes), 0.95) == 4000.0


def test_round_numbers_are_edges_so_their_shares_are_exact() -> None:
    for bound in (1.0, 160.0, 216.0, 1310.0, 1500.0, 1640.0, 2260.0, 9000.0):
        assert histogram.upper_edge_ms(histogram.bucket_of(bound)) == bound


def test_a_bound_between_edges_counts_its_bucket_as_outside_and_says_so() -> None:
    samples = counted([1501.0, 1505.0, 100.0])
    assert histogram.count_within(samples, 1505.0) == (1, False)
    assert histogram.count_within(samples, 1500.0) == (1, True)
    assert histogram.count_within(samples, 1510.0) == (3, True)


def test_what_never_completed_ranks_behind_every_completion() -> None:
    samples = counted([100.0] * 9 + [math.inf])
    assert histogram.percentile_ms(samples, 0.95) == math.inf
    assert histogram.percentile_ms(samples, 0.9) == 100.0


def test_the_grid_never_changes() -> None:
    edges = ",".join(repr(histogram.upper_edge_ms(i)) for i in range(histogram.OVERFLOW))
    digest = hashlib.sha256(edges.encode()).hexdigest()
    assert histogram.OVERFLOW == 3151
    assert digest.startswith("d1ce93644e43f5a7"), digest


def test_a_displayed_p95_is_within_three_thousandths_of_its_rank() -> None:
    generator = random.Random(7)
    values = sorted(generator.lognormvariate(6.5, 0.5) for _ in range(50_000))
    shown = histogram.percentile_ms(counted(values), 0.95)
    assert shown is not None
    rank = sum(value <= shown for value in values) / len(values)
    assert 0.95 <= rank <= 0.953


@pytest.mark.parametrize("bad", [math.nan, -1.0])
def test_what_is_no_duration_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="milliseconds"):
        histogram.bucket_of(bad)


@given(durations, durations, durations)
def test_merging_is_commutative_and_associative(
    a: list[float], b: list[float], c: list[float]
) -> None:
    x, y, z = counted(a), counted(b), counted(c)
    assert histogram.merge(x, y) == histogram.merge(y, x)
    assert histogram.merge(histogram.merge(x, y), z) == histogram.merge(x, histogram.merge(y, z))


@given(durations, st.randoms(use_true_random=False))
def test_batching_and_order_change_no_percentile(
    values: list[float], shuffler: random.Random
) -> None:
    whole = histogram.percentile_ms(counted(values), 0.95)
    shuffler.shuffle(values)
    cut = shuffler.randint(0, len(values))
    parts = histogram.merge(counted(values[:cut]), counted(values[cut:]))
    assert histogram.percentile_ms(parts, 0.95) == whole


@given(durations.filter(bool))
def test_a_percentile_is_never_better_than_the_data(values: list[float]) -> None:
    exact = sorted(values)[histogram.rank_of(0.95, len(values)) - 1]
    shown = histogram.percentile_ms(counted(values), 0.95)
    assert shown is not None
    assert shown >= exact
    assert math.isinf(shown) or shown <= max(exact * 1.0101, 0.01)
