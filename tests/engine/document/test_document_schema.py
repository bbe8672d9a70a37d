"""The published JSON Schema agrees with what the loader accepts."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from orchid.engine.document.every_key import every_key, with_classifier
from orchid.engine.document.schema import json_schema, known_keys
from tests.reference_document import SOURCE, changed


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_the_shipped_document_is_valid_by_it() -> None:
    assert list(Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(SOURCE))) == []


EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/generation-*.yaml"))


def is_valid(document: object) -> bool:
    return bool(Draft202012Validator(json_schema()).is_valid(document))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_document_is_valid_by_it(path: Path) -> None:
    assert is_valid(yaml.safe_load(path.read_text()))


def test_a_document_with_every_key_is_valid_by_it() -> None:
    assert is_valid(every_key())
    assert is_valid(with_classifier())


SECTIONS = ("contract", "gates", "admission", "scheduling", "fleet", "rollout", "demand")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_mistyped_key_is_invalid_by_it(section: str) -> None:
    key, value = next(iter(changed()[section].items()))
    given = changed(**{section: {f"{key}s": value}})
    assert not is_valid(given)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("fleet", "devices", 0),
        ("fleet", "device_usd_per_h", -1),
        ("fleet", "safe_factor", "-0.7"),
        ("fleet", "replicas", {"a b": 1}),
        ("gates", "alpha_pass", 1),
        ("rollout", "on_breach", "rolback"),
        ("rollout", "acknowledged_share", 0),
    ],
)
def test_values_out_of_their_range_are_invalid_by_it(section: str, key: str, value: object) -> None:
    assert is_valid(changed())
    assert not is_valid(changed(**{section: {key: value}}))


def test_every_bound_is_in_words_of_json_schema() -> None:
    text = json.dumps(json_schema())
    assert '"exclusiveMinimum": 0' in text
    assert not any(f'"{word}":' in text for word in ("gt", "ge", "lt", "le"))


def test_a_caller_may_change_what_it_was_given() -> None:
    json_schema()["$defs"].clear()
    assert json_schema()["$defs"]


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
