"""The line of each value, for people who look at the text and not at a pointer."""

import json

import pytest

from orchid.engine.document.places import places

TEXT = """\
schema: orchid.policy/v1
gates:
  # a comment moves everything below it
  utility: {min: 0.9,
            window: 1h}
floors:
  - {where: {}, min_utility: 0.8}

  - where: {risk: high}
    min_utility: 0.9
"""


@pytest.mark.parametrize(
    ("pointer", "line"),
    [
        ("/schema", 1),
        ("/gates", 2),
        ("/gates/utility", 4),
        ("/gates/utility/window", 5),
        ("/floors/0", 7),
        ("/floors/1", 9),
        ("/floors/1/where/risk", 9),
        ("/floors/1/min_utility", 10),
    ],
)
def test_a_value_stands_on_its_line(pointer: str, line: int) -> None:
    assert places(TEXT).line_of(pointer) == line


@pytest.mark.parametrize(
    ("pointer", "line"), [("/gates/cost", 2), ("/floors/7/where", 6), ("/missing", 1), ("", 1)]
)
def test_what_is_missing_stands_where_it_would(pointer: str, line: int) -> None:
    assert places(TEXT).line_of(pointer) == line


def test_a_repeated_key_stands_where_it_is_repeated() -> None:
    assert places("a: 1\nb: 2\na: 3\n").line_of("/a") == 3


def test_json_has_lines_too() -> None:
    text = json.dumps({"a": {"b/c": [1, {"d": 2}]}}, indent=2)
    assert places(text).line_of("/a/b~1c/1/d") == 6
    assert places(text.replace("  ", "\t")).line_of("/a/b~1c/1/d") == 6


def test_a_text_that_breaks_off_has_the_places_before_and_the_line_of_the_break() -> None:
    found = places("a: 1\nb:\n  - x\n  c: [\n")
    assert found.line_of("/a") == 1
    assert found.line_of("/b/0") == 3
    assert found.line_of("") == 4


@pytest.mark.parametrize(
    "text",
    ["", "[]", "just words", "&a [*a]", "? {a: b}\n: c", "[" * 5000, "- " * 5000, "\x07", "%"],
)
def test_no_text_is_a_fault(text: str) -> None:
    assert places(text).line_of("/a/b") >= 1
