"""The published schema and reference are those of the code, and leave no key out."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from orchid.engine.document.every_key import every_key, with_classifier
from orchid.engine.document.load import load_document
from orchid.engine.document.reference import reference_markdown
from orchid.engine.document.schema import json_schema, known_keys

PUBLISHED = Path(__file__).parents[3] / "docs" / "reference"


page = cache(reference_markdown)


@cache
def sections() -> dict[str, dict[str, Any]]:
    schema = json_schema()
    found = {"": schema, **schema["$defs"]}
    return {name: node for name, node in found.items() if "properties" in node}


def test_the_published_schema_is_up_to_date() -> None:
    published = (PUBLISHED / "orchid.policy.v1.schema.json").read_text()
    assert json.loads(published) == json_schema(), "run `make docs`"


def test_the_published_reference_is_up_to_date() -> None:
    assert (PUBLISHED / "policy.md").read_text().rstrip() == page().rstrip(), "run `make docs`"


@pytest.mark.parametrize(
    "document", [every_key(), with_classifier()], ids=["cascade", "classifier"]
)
def test_the_examples_are_of_documents_that_load(document: dict[str, Any]) -> None:
    assert load_document(document).document.product == "orchid-serve"


@pytest.mark.parametrize("name", sections())
def test_every_key_has_a_meaning_and_an_example(name: str) -> None:
    section = sections()[name]
    assert f"\n{section['description']}" in page()
    for key, node in section["properties"].items():
        assert node["description"].endswith("."), key
        row = re.search(
            rf"\n\| `{key}` \|.*\| {re.escape(node['description'])} \| (.*) \|\n", page()
        )
        assert row is not None, key
        assert row[1] == "below" or row[1].startswith("`"), key


def test_no_two_sections_say_the_same() -> None:
    meanings = [section["description"] for section in sections().values()]
    assert len(set(meanings)) == len(meanings)


def test_every_snippet_has_the_key_that_it_is_shown_for() -> None:
    parts = re.findall(r"\n## (\S+)\n.*?```yaml\n(.*?)```", page(), re.DOTALL)
    assert len(parts) > 40
    for place, snippet in parts:
        name = place.removesuffix("[]").removesuffix(".<name>").rsplit(".", 1)[-1]
        assert snippet.startswith(f"{name}:"), place


def is_a_key(path: tuple[str, ...]) -> bool:
    """Whether a document may have it, in a section or in a mapping with free names."""
    parents, last = path[:-1], path[-1]
    if last in known_keys(parents):
        return True
    return bool(parents) and known_keys(parents) == () and is_a_key(parents)


def test_the_settings_are_of_keys_that_exist() -> None:
    named = re.findall(r"\n\| `([a-z_.<>]+)` \|", (PUBLISHED / "settings.md").read_text())
    assert len(named) > 40
    assert [key for key in named if not is_a_key(tuple(key.split(".")))] == []
    assert not is_a_key(("admission", "conncurrency", "mode"))
