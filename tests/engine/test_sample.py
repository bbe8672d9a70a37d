import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.sample import PERCENTS, described, inverted_cdf

TENS = [10.0 * number for number in range(1, 11)]


def test_the_median_of_ten_is_the_fifth_and_not_between_two() -> None:
    assert inverted_cdf(TENS, 50) == 50
    assert np.percentile(TENS, 50) == 55


def test_small_samples_never_lie_over_their_maximum() -> None:
    assert described([2.0, 1.0])["p95"] == 2.0
    assert described([1.0]) == dict.fromkeys(described([1.0]), 1.0)


def test_an_empty_sample_has_no_figures() -> None:
    assert described([]) == {}
    with pytest.raises(ValueError, match="empty"):
        inverted_cdf([], 50)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300), st.sampled_from(PERCENTS))
def test_it_is_numpys_inverted_cdf(values: list[float], percent: int) -> None:
    expected = np.percentile(values, percent, method="inverted_cdf")
    assert inverted_cdf(sorted(values), percent) == expected
