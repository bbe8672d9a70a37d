"""Figures of gates in words, and which of them miss their bound."""

import pytest

from gates import wording
from gates.states import Metric


@pytest.mark.parametrize(
    ("metric", "value", "bound", "written"),
    [
        (Metric.COMPLETION, "1500.4", "1500", "1,500.4 ms"),
        (Metric.COMPLETION, "576", "1500", "576 ms"),
        (Metric.ATTAINMENT, "0.9599996", "0.96", "95.99996 %"),
        (Metric.UTILITY, "0.895", "0.895", "0.8950"),
        (Metric.VIOLATIONS, "0", "0", "0"),
        (Metric.COST, None, "0.00026", "unknown"),
    ],
)
def test_a_figure_lies_where_its_verdict_says(
    metric: Metric, value: str | None, bound: str, written: str
) -> None:
    assert wording.figure(metric, value, bound) == written


def test_a_bound_says_which_side_is_good() -> None:
    assert wording.bound(Metric.COST, "0.00026") == "≤ $0.00026"
    assert wording.bound(Metric.ATTAINMENT, "0.96") == "≥ 96 %"
    assert wording.bound(Metric.UTILITY, 0.88) == "≥ 0.88"


def test_shares_change_by_points() -> None:
    assert wording.change(Metric.ATTAINMENT, "0.0008") == "+0.08 points"
    assert wording.change(Metric.COST, "-0.0001224178") == "−$0.00012242"
    assert wording.change(Metric.COST, "0.0000000000") == "0"


def test_better_than_before_may_still_miss_the_bound() -> None:
    assert wording.misses(Metric.COST, "0.0002677888", "0.00026")
    assert not wording.misses(Metric.COST, "0.00026", "0.00026")
    assert wording.misses(Metric.UTILITY, "0.8949", "0.895")
    assert not wording.misses(Metric.UTILITY, None, "0.895")
