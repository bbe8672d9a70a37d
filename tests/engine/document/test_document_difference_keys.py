"""Every key of the schema, changed once: somebody is asked, and the words name both values."""

import copy
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from orchid.engine.document.categories import Category, category_of
from orchid.engine.document.difference import Change, changes
from orchid.engine.document.every_key import every_key, with_classifier
from orchid.engine.document.item_words import ITEMS
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.schema import json_schema
from orchid.engine.document.wording import value_words

Path = tuple[str | int, ...]
DOCUMENTS = [every_key(), with_classifier()]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Places of single values, and of lists of them."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list) and value and isinstance(value[0], dict)
        else ()
    )
    found = [leaf for key, item in inner for leaf in leaves(item, (*path, key))]
    yield from found or [path]


def places() -> Iterator[tuple[int, Path]]:
    """One place for each key of the schema, wherever it is first used."""
    seen = set()
    for number, document in enumerate(DOCUMENTS):
        for path in leaves(document):
            key = tuple("*" if isinstance(part, int) else part for part in path)
            if key not in seen and path != ("schema",):
                seen.add(key)
                yield number, path


def enumerations(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (value for value in node.get("enum", ()) if isinstance(value, str))
        yield from (word for item in node.values() for word in enumerations(item))
    elif isinstance(node, list):
        yield from (word for item in node for word in enumerations(item))


WORDS = sorted(set(enumerations(json_schema())))


def others(value: Any) -> Iterator[Any]:
    """Other values that the place may take, likeliest first."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value * 2, value / 2, value // 2, value + 1, value - 1)
    elif isinstance(value, str):
        yield from (
            *scaled(value),
            f"{value[:-1]}7",
            "7m",
            "7ms",
            f"{value}x",
            "sha256:" + "9" * 64,
            *WORDS,
        )
    elif isinstance(value, list):
        yield from ([item] for item in value)
        yield from ([*value, other] for item in value for other in others(item))
        yield from ([other, *value[1:]] for other in others(value[0]))
    elif isinstance(value, dict):
        yield {"task": "another"}


def scaled(value: str) -> list[str]:
    try:
        return [str(Decimal(value) / 2), str(Decimal(value) * 2)]
    except InvalidOperation:
        return []


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def varied(document: dict[str, Any], path: Path) -> dict[str, Any] | None:
    """The document with another value at the place; None where it takes no other."""
    for other in others(at(document, path)):
        given = copy.deepcopy(document)
        at(given, path[:-1])[path[-1]] = other
        if other == at(document, path):
            continue
        try:
            PolicyDocument.model_validate(given)
        except ValidationError:
            continue
        return given
    return None


def of(found: list[Change], path: Path) -> list[Change]:
    """The changes at the place or at the item that holds it."""
    pointer = "".join(f"/{str(part).replace('/', '~1')}" for part in path)
    return [c for c in found if f"{pointer}/".startswith(f"{c.pointer}/")]


PLACES = list(places())
#: One word only, or what its neighbours leave no choice about.
TAKES_NO_OTHER = {
    ("contract", "denominator"),
    ("demand", "cells", 1, "disabled"),
    ("classes", "nightly_summary", "interactive"),
    ("fallback", 1, "deny"),
}


@pytest.mark.parametrize(
    ("number", "path"), PLACES, ids=["/".join(map(str, path)) for _, path in PLACES]
)
def test_a_changed_key_has_a_category_and_words_for_both_values(number: int, path: Path) -> None:
    document = DOCUMENTS[number]
    given = varied(document, path)
    if given is None:
        assert path in TAKES_NO_OTHER
        return
    found = changes(document, given)
    here = of(found, path)
    assert here or any(change.words.startswith("added") for change in found), found
    for change in found:
        assert change.category in get_args(Category)
    for change in here:
        parts = tuple(change.pointer.replace("~1", "/").split("/")[1:])
        if change.pointer != "/fleet":
            assert change.category == category_of(parts)
        assert_both_values_are_named(change, parts)


def assert_both_values_are_named(change: Change, path: tuple[str, ...]) -> None:
    """An item that is another one afterwards is removed and added, each by a sentence."""
    if change.before is None or change.after is None:
        assert path[:-1] in ITEMS
        assert change.words.startswith("added: " if change.before is None else "removed: ")
        return
    before, after = change.words.split(" becomes ")
    assert before != after
    if path[:-1] not in ITEMS and path not in ITEMS:
        assert value_words(path[-1], change.before) in before
        assert value_words(path[-1], change.after) in after
