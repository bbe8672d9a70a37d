"""However histograms lie in sheets, in whatever width, their sum is the sum."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.histogram import OVERFLOW
from orchid.engine.histograms import Entries, Histograms, Table, entries_of, summed, table_of

Counts = dict[tuple[int, int], int]
#: Dense and sparse, small and large, and beyond the grid.
COUNTS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(600, 640) | st.just(OVERFLOW)),
    st.sampled_from([1, 2, 7, 250, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**40]),
    max_size=24,
)


def entries(counts: Counts) -> Entries:
    held = [(row, bucket, counts[row, bucket]) for row, bucket in sorted(counts)]
    return Entries(*np.array(held, dtype=np.int64).reshape(-1, 3).T)


def told(histograms: Histograms) -> Counts:
    found = entries_of(histograms)
    keys = list(zip(found.row.tolist(), found.bucket.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return dict(zip(keys, found.count.tolist(), strict=True))


@given(COUNTS)
def test_a_table_says_what_its_entries_say(counts: Counts) -> None:
    table = table_of(entries(counts))
    if table is not None:
        assert told(table) == counts
        assert table.top == max(counts.values())


@given(st.lists(st.tuples(COUNTS, st.lists(st.integers(0, 5), min_size=4, max_size=4)), max_size=6))
def test_the_sum_is_that_of_the_single_counts(given: list[tuple[Counts, list[int]]]) -> None:
    expected: Counts = {}
    parts = []
    for counts, to in given:
        for (row, bucket), count in counts.items():
            key = (to[row], bucket)
            expected[key] = expected.get(key, 0) + count
        one = entries(counts)
        parts.append((table_of(one) or one, np.array(to)))
    assert told(summed(parts, 6)) == expected


def test_narrow_sums_are_widened_before_they_run_over() -> None:
    full = {(row, bucket): 250 for row in range(4) for bucket in range(608, 640)}
    table = table_of(entries(full))
    assert isinstance(table, Table)
    assert table.counts.dtype == np.uint8
    rows = np.arange(4)
    found = told(summed([(table, rows)] * 70_000, 4))
    assert set(found.values()) == {250 * 70_000}


def test_many_rows_become_one_without_running_over() -> None:
    full = {(row, bucket): 60_000 for row in range(64) for bucket in (*range(608, 640), OVERFLOW)}
    table = table_of(entries(full))
    assert isinstance(table, Table)
    assert table.counts.dtype == np.uint16
    few = entries({(0, 700): 5, (63, OVERFLOW): 7})
    to = np.zeros(64, dtype=np.int64)
    found = told(summed([(table, to), (few, to), (table, to)], 1))
    whole = 2 * 64 * 60_000
    expected = {(0, bucket): whole for bucket in range(608, 640)}
    assert found == expected | {(0, 700): 5, (0, OVERFLOW): whole + 7}
