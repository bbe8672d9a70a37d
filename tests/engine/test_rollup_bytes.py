"""A sheet of sums comes back from its bytes as it was."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.outcome import COUNTERS
from orchid.engine.rollup import Sums
from orchid.engine.rollup_bytes import (
    COUNTER_ORDER,
    UnknownVersionError,
    merged_sheets,
    pack,
    unpack,
)
from tests.engine.sums_made import any_sums

SHEETS = st.dictionaries(st.integers(1, 2**40), any_sums(), max_size=4)


@given(SHEETS)
def test_what_was_packed_comes_back(sheet: dict[int, Sums]) -> None:
    assert unpack(pack(sheet)) == sheet


@given(SHEETS, SHEETS)
def test_merging_bytes_is_merging_sums(left: dict[int, Sums], right: dict[int, Sums]) -> None:
    assert unpack(pack(merged_sheets([left, right]))) == merged_sheets(
        [unpack(pack(right)), unpack(pack(left))]
    )


def test_every_population_has_its_place() -> None:
    assert set(COUNTER_ORDER) == set(COUNTERS)


def test_a_population_of_a_later_version_is_kept_by_name() -> None:
    sums = Sums(records=1)
    sums.counters["of_tomorrow"] = 3
    assert unpack(pack({7: sums})) == {7: sums}


def test_money_larger_than_64_bits_keeps_its_last_digit() -> None:
    sums = Sums()
    sums.add_usd(Decimal("999999999999999.000000000001"))
    assert unpack(pack({1: sums}))[1].cost_usd == Decimal("999999999999999.000000000001")


def test_a_sheet_of_another_version_is_refused() -> None:
    with pytest.raises(UnknownVersionError):
        unpack(b"\x09rest")
