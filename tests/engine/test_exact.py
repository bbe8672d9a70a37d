"""Percentiles and shares of single values: one declared method, and no value without a sample."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.exact import nearest_rank_ms, within
from orchid.engine.histogram import OVERFLOW, bucket_of, buckets_of, percentile_ms
from orchid.engine.histograms import Entries, Placed, percentile_of, summed

TIMES = st.lists(st.floats(0.01, 1e7) | st.just(math.inf), min_size=1, max_size=200)
QUANTILES = st.sampled_from([0.01, 0.5, 0.9, 0.95, 0.99, 1.0])


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_the_median_of_ten_is_the_fifth_and_nothing_in_between() -> None:
    assert nearest_rank_ms(column(*range(10, 110, 10)), 0.5) == 50


def test_small_samples_never_exceed_their_largest() -> None:
    assert nearest_rank_ms(column(1.0, 2.0), 0.95) == 2.0
    assert nearest_rank_ms(column(1.0), 0.95) == 1.0


def test_without_requests_there_is_neither_a_percentile_nor_a_share() -> None:
    assert nearest_rank_ms(column(), 0.95) is None
    assert within(column(), 1500).share is None


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not NaN"):
        nearest_rank_ms(column(1.0, math.nan, 2.0), 0.5)


def test_percentiles_of_parts_are_never_averaged() -> None:
    """A thousand fast requests of one edge and ten slow ones of another: the fast one's p95."""
    whole = column(*[10.0] * 1000, *[2000.0] * 10)
    assert nearest_rank_ms(whole, 0.95) == 10.0
    assert percentile_of(*merged([[10.0] * 1000, [2000.0] * 10]), 0.95) == 10.0


def test_a_slow_worker_is_seen_in_the_pooled_tail() -> None:
    """Ten minutes of 180 at 1,200 ms and 20 at 4,000 ms: the pooled p95 is 4,000."""
    minutes = [[1200.0] * 180, [4000.0] * 20] * 10
    assert nearest_rank_ms(column(*(ms for one in minutes for ms in one)), 0.95) == 4000.0
    for batches in (1, 2, 7):
        mixed = [[ms for one in minutes[n::batches] for ms in one] for n in range(batches)]
        assert percentile_of(*merged(mixed), 0.95) == 4000.0


@given(TIMES, QUANTILES)
def test_it_is_the_value_of_nearest_rank(values: list[float], quantile: float) -> None:
    rank = max(1, math.ceil(round(quantile * len(values), 9)))
    assert nearest_rank_ms(column(*values), quantile) == sorted(values)[rank - 1]


@given(TIMES, QUANTILES)
def test_the_grid_shows_the_edge_above_the_exact_value(
    values: list[float], quantile: float
) -> None:
    exact = nearest_rank_ms(column(*values), quantile)
    shown = percentile_of(*merged([values]), quantile)
    assert exact is not None
    assert shown is not None
    assert exact <= shown
    assert math.isinf(shown) or shown <= 1.0101 * exact or bucket_of(exact) == 0


@given(st.lists(TIMES, max_size=5), QUANTILES)
def test_merging_says_what_one_histogram_of_all_says(
    parts: list[list[float]], quantile: float
) -> None:
    counts: dict[int, int] = {}
    for ms in (ms for part in parts for ms in part):
        counts[bucket_of(ms)] = counts.get(bucket_of(ms), 0) + 1
    assert percentile_of(*merged(parts), quantile) == percentile_ms(counts, quantile)


@given(TIMES, st.floats(0.01, 1e7))
def test_a_share_counts_the_bound_itself(values: list[float], bound: float) -> None:
    found = within(column(*values, bound), bound)
    assert found.within == sum(ms <= bound for ms in values) + 1
    assert found.total == len(values) + 1


def merged(parts: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    placed: list[Placed] = []
    for part in parts:
        bucket, count = np.unique(buckets_of(column(*part)), return_counts=True)
        assert not len(bucket) or bucket.max() <= OVERFLOW
        placed.append((Entries(np.zeros_like(bucket), bucket, count), np.zeros(1, dtype=np.int64)))
    whole = summed(placed, 1)
    return whole.bucket, whole.count
