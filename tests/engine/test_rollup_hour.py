"""An hour keeps every count and sum of its steps, and the shares of its blocks."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.rollup import Sums
from orchid.engine.rollup_bytes import Sheet, merged_sheets
from orchid.engine.rollup_columns import columns_of, sheet_of
from orchid.engine.rollup_hour import BLOCK, blocks, folded, hour_of
from tests.engine.sums_made import any_sums

HOUR = datetime(2026, 3, 1, 14, tzinfo=UTC)
STEPS = st.dictionaries(
    st.integers(0, 59).map(lambda minute: HOUR + timedelta(minutes=minute)),
    st.dictionaries(st.integers(1, 3), any_sums(), max_size=2),
    max_size=4,
)


def hour_of_steps(steps: Iterable[tuple[datetime, Sheet]]) -> Sheet:
    return sheet_of(folded((at, columns_of(sheet)) for at, sheet in steps))


@settings(max_examples=40)
@given(STEPS)
def test_an_hour_holds_what_its_steps_hold(steps: dict[datetime, Sheet]) -> None:
    hour = merged_sheets(sheet for _, sheet in blocks(HOUR, hour_of_steps(steps.items())))
    assert hour == merged_sheets(steps.values())


@settings(max_examples=40)
@given(STEPS)
def test_the_order_of_steps_changes_nothing(steps: dict[datetime, Sheet]) -> None:
    assert hour_of_steps(steps.items()) == hour_of_steps(reversed(list(steps.items())))


def test_populations_stay_in_their_block_and_a_histogram_stands_in_the_first() -> None:
    early, late = Sums(records=2), Sums(records=3)
    for sums in (early, late):
        sums.counters["eligible"] = sums.records
        sums.histogram[7] = sums.records
    steps = [(HOUR + timedelta(minutes=12), {5: early}), (HOUR + timedelta(minutes=59), {5: late})]
    found = dict(blocks(HOUR, hour_of_steps(steps)))
    assert list(found) == [HOUR + BLOCK, HOUR + 5 * BLOCK]
    first, last = (sheet[5] for sheet in found.values())
    assert (first.counters["eligible"], last.counters["eligible"]) == (2, 3)
    assert (first.histogram[7], last.histogram[7]) == (5, 0)


def test_an_hour_starts_on_the_hour() -> None:
    assert hour_of(datetime(2026, 3, 1, 14, 59, 59, 999_999, UTC)) == HOUR
