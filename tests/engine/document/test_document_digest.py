"""Equal content has an equal digest, however it is written, and other content has another."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import rfc8785
import yaml
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from orchid.engine.document.canonical import (
    canonical_bytes,
    manifest_digest,
    normalised_document,
)
from orchid.engine.document.every_key import every_key, with_classifier
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.written import as_yaml
from tests.engine.document.respelling import respelled
from tests.reference_document import SOURCE, changed

DIGEST = load_document(SOURCE).digest


def is_kept(text: str) -> bool:
    """Whether a document may hold the text at all."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


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


@settings(max_examples=25, deadline=None)
@generated(st.integers(0, 2**32), st.sampled_from([changed(), every_key(), with_classifier()]))
def test_no_spelling_of_any_key_changes_anything(seed: int, document: dict[str, Any]) -> None:
    text = respelled(document, Random(seed))
    assert load_document(text).digest == load_document(document).digest


@settings(max_examples=25, deadline=None)
@generated(st.integers(0, 2**32), st.sampled_from([changed(), every_key(), with_classifier()]))
def test_yaml_to_model_to_yaml_loses_nothing(seed: int, document: dict[str, Any]) -> None:
    given = load_document(respelled(document, Random(seed))).given
    again = load_document(as_yaml(given))
    assert again.document == load_document(document).document
    assert again.digest == load_document(document).digest
    assert as_yaml(again.given) == as_yaml(given)


@settings(max_examples=100, deadline=None)
@generated(st.text(min_size=1, max_size=60).filter(is_kept))
def test_any_text_survives_being_written(text: str) -> None:
    given = changed(contract={"population": {"name": text}})
    written = load_document(as_yaml(given)).document.contract.population
    assert written is not None
    assert written.name == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", ["12e3", "1e400", "0o7", ".5", "+1", "no", "~", "1_000", "1:30"])
def test_text_that_looks_like_something_else_stays_text(text: str) -> None:
    given = changed(contract={"population": {"name": text}})
    written = load_document(as_yaml(given)).document.contract.population
    assert written is not None
    assert written.name == text


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


#: Documents and digests from before the schema had overload thresholds, signals, cells and others.
APPROVED = {
    "orchid-serve-generation-1": "210b27859148fa000f86678ed7187ccf0e7a68820491968f8ed06db805a84e26",
    "orchid-demo-generation-1": "3133d6839a4600d72cd8eda957a49f0300e5aac92c427721b547179adfd13c4f",
    "orchid-demo-generation-2": "aa86d6b9bb30c486c6cfc47230724f0006493cd5cacea56d97b5928a128007a1",
}


@pytest.mark.parametrize("name", APPROVED)
def test_a_grown_schema_changes_no_digest_that_was_approved(name: str) -> None:
    text = (Path(__file__).parent / "approved" / f"{name}.yaml").read_text()
    assert load_document(text).digest == f"sha256:{APPROVED[name]}"


def test_composed_and_decomposed_text_are_one() -> None:
    def digest(name: str) -> str:
        given = changed()
        given["contract"]["population"]["name"] = name
        return load_document(given).digest

    assert digest("Z\u00fcrich") == digest("Zu\u0308rich")


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("deadline_ms: 1500", "deadline_ms: 1501"),
        ('"0.00016"', '"0.00016000000000001"'),
        ("{observe: 24h, ", "{observe: 23h, "),
        ("overload: [stop_shadow, defer_async,", "overload: [defer_async, stop_shadow,"),
    ],
)
def test_content_changes_it(written: str, otherwise: str) -> None:
    assert load_document(SOURCE.replace(written, otherwise)).digest != DIGEST


def test_a_default_is_not_filled_in() -> None:
    given = changed()
    del given["gates"]["segments"][0]["minimum_sample"]
    assert b'"minimum_sample":200' not in canonical_bytes(load_document(given).document)


@settings(max_examples=100, deadline=None)
@generated(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_the_canonical_form_is_that_of_rfc_8785(margin: float) -> None:
    given = changed(gates={"fragile_margin": margin, "design_effect_prior": margin or 1})
    document = load_document(given).document
    assert canonical_bytes(document) == rfc8785.dumps(normalised_document(document))


def test_the_canonical_form_of_every_key_is_that_of_rfc_8785() -> None:
    for given in (every_key(), with_classifier()):
        document = load_document(given).document
        assert canonical_bytes(document) == rfc8785.dumps(normalised_document(document))


def test_the_digest_names_its_method() -> None:
    assert DIGEST.startswith("sha256:")
    assert len(DIGEST) == len("sha256:") + 64
    assert load_document(changed()).digest == DIGEST


def test_a_manifest_is_what_pins_a_model(loaded_reference: LoadedDocument) -> None:
    full = loaded_reference.document.models["full"]
    slower = full.model_copy(update={"timing": None})
    quantized = full.model_copy(update={"precision": "int8"})
    assert manifest_digest(slower) == manifest_digest(full)
    assert manifest_digest(quantized) != manifest_digest(full)
