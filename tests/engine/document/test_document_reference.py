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
from orchid.engine.document.schema import json_schema

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
