"""What was counted is the same however it was batched, ordered, merged or spelled."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.rollup import Figure, Sums, merged_all
from orchid.engine.rollup_bytes import UnknownVersionError
from orchid.engine.segments import segment_key
from orchid.engine.verdict.counted import MINIMUM_BLOCKS, CellName, Counted
from tests.engine.sums_made import any_sums

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@dataclass
class Row:
    """One cell of one step."""

    step_at: datetime
    dims: dict[str, str]
    route: str
    manifest: str
    sums: Sums = field(default_factory=Sums)

    def __getattr__(self, name: str) -> object:
        return getattr(self.sums, name)


@st.composite
def any_row(draw: st.DrawFn) -> Row:
    return Row(
        START + draw(st.integers(0, 119)) * MINUTE,
        draw(st.sampled_from([{}, {"task": "a"}, {"task": "b"}, {"task": "a", "risk": "high"}])),
        draw(st.sampled_from(["full", "compact"])),
        draw(st.sampled_from(["", "sha256:1"])),
        draw(any_sums()),
    )


ROWS = st.lists(any_row(), max_size=8)


def counted(rows: list[Any], minutes: int = 120) -> Counted:
    return Counted.of_rows(rows, START, START + minutes * MINUTE, MINUTE)


@given(ROWS)
def test_every_cell_holds_the_sum_of_its_rows(rows: list[Row]) -> None:
    by_cell: dict[CellName, list[Sums]] = {}
    for row in rows:
        name = CellName(segment_key(row.dims), row.route, row.manifest)
        by_cell.setdefault(name, []).append(row.sums)
    expected = {name: merged_all(some) for name, some in by_cell.items()}
    found = {cell.name: cell for cell in counted(rows).sums()}
    assert list(found) == sorted(expected)
    for name, sums in expected.items():
        one = found[name]
        assert (one.counters, one.histogram) == (+sums.counters, +sums.histogram)
        assert (one.within, one.judged) == (+sums.within, +sums.judged)
        assert one.figures == {n: f for n, f in sums.figures.items() if f.count}
        assert (one.teu, one.cost_usd, one.records) == (sums.teu, sums.cost_usd, sums.records)


@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 7))
def test_order_and_batches_change_no_byte(rows: list[Row], dice: random.Random, parts: int) -> None:
    shuffled = dice.sample(rows, len(rows))
    batches = [counted(shuffled[n::parts]) for n in range(parts)]
    whole = counted(rows).encoded()
    assert counted(shuffled).encoded() == whole
    assert Counted.merged(batches).encoded() == whole
    assert Counted.merged([Counted.merged(batches[:1]), *batches[1:]]).encoded() == whole


@given(ROWS)
def test_what_was_spelled_is_read_back(rows: list[Row]) -> None:
    one = counted(rows)
    again = Counted.decoded(one.encoded())
    assert again.encoded() == one.encoded()
    assert (again.sums(), again.start, again.end) == (one.sums(), one.start, one.end)


def test_bytes_of_another_version_are_refused() -> None:
    data = counted([]).encoded()
    with pytest.raises(UnknownVersionError):
        Counted.decoded(data.replace(b"\x97\x01", b"\x97\x63", 1))


def eligible(minute: int, requests: int) -> Any:
    sums = Sums(Counter(eligible=requests), records=requests)
    return Row(START + minute * MINUTE, {}, "full", "", sums)


@pytest.mark.parametrize(("minutes", "block_s"), [(10, 60), (79, 60), (80, 600), (1440, 600)])
def test_the_window_alone_says_how_long_a_block_is(minutes: int, block_s: int) -> None:
    blocks = counted([eligible(3, 5), eligible(4, 7)], minutes).blocks
    assert blocks.length_s == block_s
    assert minutes * 60 // blocks.length_s >= MINIMUM_BLOCKS
    assert len(blocks.at_s) == (1 if block_s == 600 else 2)
    assert int(blocks.populations.sum()) == 12


def test_a_series_is_told_by_steps_however_long_the_window() -> None:
    rows = [eligible(3, 5), eligible(4, 7), eligible(4, 1)]
    series = Counted.of_rows(rows, START, START + 600 * MINUTE, MINUTE, by_step=True)
    assert series.eligible_by_block.tolist() == [5, 8]


def test_windows_that_follow_each_other_are_one_long_window() -> None:
    rows = [eligible(minute, minute + 1) for minute in range(0, 120, 7)]
    early = Counted.of_rows(rows[:9], START, START + 60 * MINUTE, MINUTE)
    late = Counted.of_rows(rows[9:], START + 60 * MINUTE, START + 120 * MINUTE, MINUTE)
    assert Counted.merged([late, early]).encoded() == counted(rows).encoded()


def test_a_sum_beyond_64_bits_keeps_its_last_digit() -> None:
    rows = [eligible(minute, 1) for minute in range(3)]
    for row in rows:
        row.sums.add_usd(Decimal("9000000.000000000001"))
        row.sums.figures["live_token_ms"] = Figure(1, 2**62, 2**62)
    (cell,) = Counted.decoded(counted(rows).encoded()).sums()
    assert cell.cost_usd == Decimal("27000000.000000000003")
    assert cell.figures["live_token_ms"] == Figure(3, 3 * 2**62, 2**62)


def test_nothing_counted_has_no_cells_and_no_blocks() -> None:
    nothing = Counted.empty(START, START + 120 * MINUTE, MINUTE)
    assert (nothing.cells, nothing.sums(), len(nothing.blocks.at_s)) == ((), [], 0)
    assert nothing.total("eligible") == 0
