"""Contenders take turns, and what is told of them is a median."""

import pytest

from benchmarks.rounds import Series, interleaved, percentile


def test_contenders_take_turns_and_swap_who_begins() -> None:
    order: list[str] = []

    def contender(name: str) -> float:
        order.append(name)
        return float(len(order))

    series = interleaved({"ours": lambda: contender("ours"), "peer": lambda: contender("peer")}, 3)
    assert order == ["ours", "peer", "peer", "ours", "ours", "peer"]
    assert series["ours"].figures == (1.0, 4.0, 5.0)
    assert series["ours"].median == 4.0


def test_one_slow_round_moves_neither_median_nor_spread() -> None:
    steady, with_a_stall = Series((10.0,) * 8 + (10.0,)), Series((10.0,) * 8 + (1000.0,))
    assert with_a_stall.median == steady.median == 10.0
    assert with_a_stall.spread == steady.spread == 0.0


def test_a_single_round_has_no_spread() -> None:
    assert Series((7.0,)).spread is None


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (0.991, 100), (1.0, 100)])
def test_a_percentile_is_the_nearest_rank(share: float, value: int) -> None:
    assert percentile(range(1, 101), share) == value
