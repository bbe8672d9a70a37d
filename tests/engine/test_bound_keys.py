"""The name that a rollup counts a latency bound under."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.clocks import LatencyBound
from orchid.engine.wire.rollups import BoundKey

MILLISECONDS = st.floats(min_value=0, exclude_min=True, max_value=1e12)


@pytest.mark.parametrize(
    ("max_ms", "key"),
    [
        (1500.0, "completion<=1500"),
        (0.5, "completion<=0.5"),
        (999_999.0, "completion<=999999"),
        (1_000_000.0, "completion<=1e+06"),
        (1_234_567.0, "completion<=1234567"),
        (1_234_568.0, "completion<=1234568"),
        (1500.0001, "completion<=1500.0001"),
    ],
)
def test_a_key_says_the_bound_in_as_few_digits_as_say_all_of_it(max_ms: float, key: str) -> None:
    assert LatencyBound("completion", max_ms).key == key


@given(MILLISECONDS)
def test_a_key_leads_back_to_its_bound_and_may_be_sent(max_ms: float) -> None:
    bound = LatencyBound("completion", max_ms)
    key = bound.key
    assert LatencyBound.of(key) == bound
    assert msgspec.convert(key, BoundKey) == key
