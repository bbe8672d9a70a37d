"""A document that is damaged anywhere is read, or its faults are told."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as generated
from hypothesis import strategies as st

from orchid.engine.document.errors import MAX_FAULTS, DocumentError, DocumentErrors
from orchid.engine.document.every_key import every_key
from orchid.engine.document.load import load_document
from tests.reference_document import SOURCE


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = list(enumerate(value)) if isinstance(value, list) else []
    for part, item in value.items() if isinstance(value, dict) else parts:
        yield from places(item, (*path, part))


PLACES = sorted(places(every_key()), key=str)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["", "-1", "15m", "full", "sha256:", {}, [], 0, -1, 10**14, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def replaced(path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    document = copy.deepcopy(every_key())
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return document


def told(document: Any) -> list[DocumentError]:
    """The faults of a document that may have none."""
    try:
        load_document(document)
    except DocumentErrors as found:
        return found.errors
    return []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@generated(st.sampled_from(PLACES), JSON_VALUES)
def test_any_value_anywhere_is_read_or_told(path: tuple[Any, ...], value: Any) -> None:
    assert all(error.allowed and error.code for error in told(replaced(path, value)))


@pytest.mark.parametrize("value", [None, -1, "x y", [[]], {"a": {}}], ids=repr)
def test_a_wrong_type_is_told_at_every_key(value: Any) -> None:
    assert all(len(told(replaced(path, value))) < MAX_FAULTS for path in PLACES)


MARKS = "{}[]:,-&*!|>'\"%@#?\t\n \x00\u2028é"


@settings(max_examples=100, deadline=None)
@generated(st.integers(0, 2**32))
def test_a_damaged_text_is_read_or_told(seed: int) -> None:
    random, text = Random(seed), list(SOURCE)
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(text))
        text[at : at + random.randint(0, 3)] = random.choices(MARKS, k=2)
    assert len(told("".join(text))) <= MAX_FAULTS + 1
