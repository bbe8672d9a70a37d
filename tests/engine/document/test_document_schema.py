"""The published JSON Schema agrees with what the loader accepts."""

import pytest
import yaml
from jsonschema import Draft202012Validator

from orchid.engine.document.schema import json_schema, known_keys
from tests.reference_document import SOURCE, changed


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_the_shipped_document_is_valid_by_it() -> None:
    assert list(Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(SOURCE))) == []


@pytest.mark.parametrize("window", ["15 min", 0, True, "1.5h"])
def test_a_wrong_duration_is_invalid_by_it(window: object) -> None:
    given = changed()
    given["gates"]["utility"]["window"] = window
    assert not Draft202012Validator(json_schema()).is_valid(given)


def test_an_unknown_key_is_invalid_by_it() -> None:
    assert not Draft202012Validator(json_schema()).is_valid({**changed(), "gate": {}})


def test_keys_are_known_by_place() -> None:
    assert "deadline_ms" in known_keys(("contract",))
    assert "min_utility" in known_keys(("segments", "floors", 0))
    assert "ceiling" in known_keys(("admission", "shares", "region/eu", "children", "any"))
    assert "schema" in known_keys(())
    assert known_keys(("nowhere",)) == ()
