from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.windows import peak, width_for, windowed

MS = 1_000_000


def test_a_burst_shows_in_its_window() -> None:
    at = [0, 0, 0, 20 * MS, 40 * MS]
    assert windowed(at, 20 * MS) == [3, 1, 1]
    assert peak(at, 20 * MS) == 3
    assert peak(at, 1000 * MS) == 5


def test_windows_start_at_the_first_arrival_and_empty_ones_count_zero() -> None:
    assert windowed([7 * MS, 18 * MS, 37 * MS], 10 * MS) == [1, 1, 0, 1]
    assert windowed([], MS) == []
    assert peak([], MS) == 0


@given(st.integers(0, 10**18))
def test_a_picture_never_needs_more_windows_than_it_has_room_for(duration_ns: int) -> None:
    width = width_for(duration_ns)
    assert duration_ns // width < 120
    assert width == MS or duration_ns >= width * 120 / 2.6
