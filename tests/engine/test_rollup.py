"""Sums merge in any order and any grouping, to the last digit."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.rollup import (
    Figure,
    Sums,
    maximum_of,
    mean_of,
    merged,
    merged_all,
    step_of,
)
from tests.engine.sums_made import any_sums


@given(any_sums(), any_sums(), any_sums())
def test_grouping_changes_nothing(a: Sums, b: Sums, c: Sums) -> None:
    assert merged(merged(a, b), c) == merged(a, merged(b, c))


@given(st.lists(any_sums(), max_size=6), st.randoms())
def test_order_changes_nothing(parts: list[Sums], dice: object) -> None:
    shuffled = list(parts)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' Random
    assert merged_all(parts) == merged_all(shuffled)


@given(any_sums())
def test_nothing_added_changes_nothing(sums: Sums) -> None:
    assert merged(sums, Sums()) == merged(Sums(), sums)


def test_a_merge_leaves_its_parts_as_they_were() -> None:
    left, right = Sums(records=1), Sums(records=2)
    left.observe("queue_ms", 1.5)
    right.observe("queue_ms", 4)
    merged(left, right)
    assert (left.records, left.figures["queue_ms"]) == (1, Figure(1, 1500, 1500))


def test_a_figure_tells_mean_and_maximum_in_its_own_unit() -> None:
    sums = Sums()
    for value in (1.5, 4, None):
        sums.observe("queue_ms", value)
    assert mean_of("queue_ms", sums.figures["queue_ms"]) == 2.75
    assert maximum_of("queue_ms", sums.figures["queue_ms"]) == 4
    assert mean_of("queue_ms", Figure()) is None
    assert maximum_of("queue_ms", Figure()) is None


def test_amounts_are_exact_at_any_size() -> None:
    sums = Sums()
    sums.add_usd(Decimal("999999999999999.000000000001"))
    for _ in range(3):
        sums.add_usd(Decimal("0.000000000001"))
    assert sums.cost_usd == Decimal("999999999999999.000000000004")


def test_steps_count_from_the_epoch_also_before_it() -> None:
    assert step_of(datetime(2026, 1, 1, 0, 1, 59, 999_999, UTC), 60) == datetime(
        2026, 1, 1, 0, 1, tzinfo=UTC
    )
    assert step_of(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), 60) == datetime(
        1969, 12, 31, 23, 59, tzinfo=UTC
    )
