"""A figure is printed with what it was measured against, and judged by its ratio alone."""

import json

import pytest

from benchmarks.line import Against, Line


def line(value: float, goal: str | None, against: float = 10.0) -> Line:
    return Line("decisions", value, "decisions/s", Against("a peer", against), goal)


@pytest.mark.parametrize(
    ("value", "goal", "ok"),
    [
        (80.0, ">= 8", True),
        (79.9, ">= 8", False),
        (2.0, "<= 0.2", True),
        (2.1, "<= 0.2", False),
        (2.1, None, None),
    ],
)
def test_a_goal_is_a_bound_of_the_ratio(value: float, goal: str | None, ok: bool | None) -> None:
    assert line(value, goal).ok is ok


def test_a_line_is_one_json_object_with_its_peer_in_it() -> None:
    text = line(123_456.0, ">= 8").as_json()
    assert "\n" not in text
    assert json.loads(text) == {
        "name": "decisions",
        "value": 123_500,
        "unit": "decisions/s",
        "against": {"name": "a peer", "value": 10},
        "ratio": 12350,
        "goal": ">= 8",
        "ok": True,
        "spread": None,
    }


def test_a_goal_that_cannot_be_read_is_no_goal_that_is_met() -> None:
    with pytest.raises(ValueError, match="a goal reads"):
        _ = line(1.0, "about 8").ok
