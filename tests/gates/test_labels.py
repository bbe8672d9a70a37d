"""Names in a picture: each on the side of its mark where it covers no other."""

from gates.labels import sides


def test_neighbours_write_on_different_sides() -> None:
    first, second = sides([(0.5, 0.5), (0.55, 0.5)], [20, 20])
    assert first != second


def test_a_name_is_written_away_from_the_edge() -> None:
    left, right = sides([(0.02, 0.5), (0.98, 0.5)], [20, 20])
    assert left.endswith("right")
    assert right.endswith("left")


def test_a_mark_at_the_top_is_named_below() -> None:
    assert sides([(0.5, 0.97)], [10])[0].startswith("bottom")
