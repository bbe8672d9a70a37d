"""Equal content has an equal digest, however it is written, and other content has another."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from orchid.engine.document.canonical import canonical_bytes, digest_of, manifest_digest
from orchid.engine.document.load import LoadedDocument, load_document
from tests.reference_document import SOURCE, changed

DIGEST = load_document(SOURCE).digest


def reordered(value: Any, random: Random) -> Any:
    """The same content with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = random.sample(list(value), len(value))
        return {key: reordered(value[key], random) for key in keys}
    if isinstance(value, list):
        return [reordered(item, random) for item in value]
    return value


@settings(max_examples=25, deadline=None)
@generated(st.integers(), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_key_order_and_media_change_nothing(seed: int, write: Callable[[Any], str]) -> None:
    assert load_document(write(reordered(changed(), Random(seed)))).digest == DIGEST


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("window: 15m", "window: 900s"),
        ("window: 15m", "window: 900000"),
        ("window: 1h", "window: 60m"),
        ('"0.00016"', '"0.000160"'),
        ('"0.00016"', "0.00016"),
        ('"0.00016"', "1.6e-4"),
        ("min: 0.96", "min: 0.960"),
        ("full: 1.0", "full: 1"),
        ("full: 1.0", 'full: "1.00"'),
        ("arrivals_per_s: 220", "arrivals_per_s: 220.0"),
        ("interactive: true", "interactive: True"),
        ("# ", "# another comment "),
    ],
)
def test_spelling_changes_nothing(written: str, otherwise: str) -> None:
    assert written in SOURCE
    assert load_document(SOURCE.replace(written, otherwise)).digest == DIGEST


def test_composed_and_decomposed_text_are_one() -> None:
    def digest(name: str) -> str:
        given = changed()
        given["contract"]["population"]["name"] = name
        return digest_of(given)

    assert digest("Z\u00fcrich") == digest("Zu\u0308rich")


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("deadline_ms: 1500", "deadline_ms: 1501"),
        ('"0.00016"', '"0.00016000000000001"'),
        ("{observe: 24h}", "{observe: 23h}"),
        ("overload: [stop_shadow, defer_async,", "overload: [defer_async, stop_shadow,"),
    ],
)
def test_content_changes_it(written: str, otherwise: str) -> None:
    assert load_document(SOURCE.replace(written, otherwise)).digest != DIGEST


def test_a_default_is_not_filled_in() -> None:
    given = changed()
    del given["gates"]["segments"][0]["minimum_sample"]
    assert b'"minimum_sample":200' not in canonical_bytes(given)


def test_the_digest_names_its_method() -> None:
    assert DIGEST.startswith("sha256:")
    assert len(DIGEST) == len("sha256:") + 64
    assert digest_of(changed()) == DIGEST


def test_a_manifest_is_what_pins_a_model(loaded_reference: LoadedDocument) -> None:
    full = loaded_reference.document.models["full"]
    slower = full.model_copy(update={"timing": None})
    quantized = full.model_copy(update={"precision": "int8"})
    assert manifest_digest(slower) == manifest_digest(full)
    assert manifest_digest(quantized) != manifest_digest(full)
