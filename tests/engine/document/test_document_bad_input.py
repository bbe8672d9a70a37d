"""Whatever arrives as a document is answered by its faults, soon, and in bounded memory."""

import json
import time
import tracemalloc
from typing import Any

import pytest

from orchid.engine.document.bounds import MAX_BYTES
from orchid.engine.document.errors import MAX_FAULTS, DocumentError, DocumentErrors
from orchid.engine.document.load import load_document
from tests.reference_document import SOURCE, changed

SOON_S = 3.0
MUCH_BYTES = 150_000_000
LONGEST_FAULT = 20_000


def faults(data: Any, media: Any = None) -> list[DocumentError]:
    with pytest.raises(DocumentErrors) as caught:
        load_document(data, media=media)
    return caught.value.errors


def codes(data: Any, media: Any = None) -> list[str]:
    return [error.code for error in faults(data, media)]


@pytest.mark.parametrize(
    "word", [".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.INF", ".Inf", "1e400", "-1e400", "1e9999"]
)
def test_what_is_not_finite_is_refused_in_yaml(word: str) -> None:
    (error,) = faults(SOURCE.replace("min: 0.96", f"min: {word}"))
    assert (error.pointer, error.code) == ("/gates/attainment/min", "not_finite")
    assert error.found == word


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "-1E+400"])
def test_what_is_not_finite_is_refused_in_json(word: str) -> None:
    assert codes(f'{{"schema": "orchid.policy/v1", "product": {word}}}') == ["not_finite"]


@pytest.mark.parametrize("word", ["nan", "NaN", "inf", "Infinity", '"NaN"', '"1e400"', '"-inf"'])
def test_words_for_no_number_are_no_number(word: str) -> None:
    text = SOURCE.replace("min: 0.96", f"min: {word}").replace('max: "0.00016"', f"max: {word}")
    assert {error.pointer for error in faults(text)} == {
        "/gates/attainment/min",
        "/gates/cost_per_success_usd/max",
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_refused_in_values(value: float) -> None:
    assert codes(changed(gates={"alpha_pass": value})) == ["not_finite"]


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("9" * 31, "huge_number"),
        ("-" + "9" * 31, "huge_number"),
        ("9" * 5_000, "huge_number"),
        ("9" * 400, "huge_number"),
        ("0." + "1" * 400, "huge_number"),
        ("1" * 900_000, "huge_number"),
        ("1e-400", "inexact"),
        ("0.10000000000000000001", "inexact"),
        ("123456789012345678.5", "inexact"),
    ],
)
def test_a_number_that_can_not_be_kept_is_refused(word: str, code: str) -> None:
    assert codes(f"a: {word}") == [code]
    assert codes(f'{{"a": {word}}}') == [code]


def test_a_number_with_every_digit_kept_is_read() -> None:
    text = SOURCE.replace("min: 0.96", "min: 0.30000000000000004").replace(
        "step_s: 60", "step_s: 6e1"
    )
    gates = load_document(text).document.gates
    assert (gates.attainment.min, gates.step_s) == (0.30000000000000004, 60)


@pytest.mark.parametrize("value", [10**5_000, -(10**30), 10**400], ids=int.bit_length)
def test_huge_whole_numbers_are_refused_in_values(value: int) -> None:
    assert codes(changed(gates={"step_s": value})) == ["huge_number"]


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), 1j])
def test_what_json_can_not_hold_is_refused_in_values(value: object) -> None:
    assert codes(changed(gates={"step_s": value})) == ["not_json_value"]


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    assert codes(endless) == ["too_deep"]


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: &x 1", "anchor"),
        ("a: *x", "anchor"),
        ("a: &x {b: *x}", "anchor"),
        ("&x a: 1", "anchor"),
        ("*x : 1", "anchor"),
        (LAUGHS, "anchor"),
        ("base: &b {a: 1}\nc: {<<: *b}", "anchor"),
        ("a: !!str 1", "tag"),
        ("a: !!binary aGk=", "tag"),
        ("a: !local {}", "tag"),
        ("a: ! x", "tag"),
        ("!!set {a, b}", "tag"),
        ("a: !!python/object/apply:os.system [ls]", "tag"),
        ("%TAG ! tag:example.org,2000:\n---\na: !x 1", "tag"),
        ("a: 1\na: 2", "duplicate_key"),
        ("a: {b: 1, 'b': 2}", "duplicate_key"),
        ("? {a: 1}\n: 1", "bad_key"),
        ("? [1]\n: 1", "bad_key"),
        ("a: 1\n--- \nb: 1", "not_yaml"),
        ("a: [1", "not_yaml"),
        ("a:\n\t- 1", "not_yaml"),
        ("a: \x07", "not_yaml"),
        ("a: \x00", "not_yaml"),
        ('a: "\\ud800"', "not_yaml"),
        ('a: "b\\0c"', "nul"),
        ('"a\\0b": 1', "nul"),
        ("k" * 201 + ": 1", "too_large"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_yaml_that_is_refused(text: str, code: str) -> None:
    (error,) = faults(text, "yaml")
    assert error.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": 1, "\\u0061": 2}', "duplicate_key"),
        ('{"a": "\\ud800"}', "not_utf8"),
        ('{"\\udc00": 1}', "not_utf8"),
        ('{"a": "\\u0000"}', "nul"),
        ('{"a": 1} x', "not_json"),
        ('{"a": 1,}', "not_json"),
        ('{"a": \x00}', "not_json"),
        ("{'a': 1}", "not_json"),
        ("", "not_json"),
        ('{"' + "k" * 201 + '": 1}', "too_large"),
        ("[]", "not_a_mapping"),
        ("3", "not_a_mapping"),
        ("null", "not_a_mapping"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_json_that_is_refused(text: str, code: str) -> None:
    (error,) = faults(text, "json")
    assert error.code == code


def test_the_place_of_every_repeated_key_is_told() -> None:
    text = '{"a": {"b": 1, "b": 2}, "c": [{"d": 1, "d": 2, "d": 3}]}'
    for media in ("json", "yaml"):
        found = {error.pointer for error in faults(text, media)}
        assert found == {"/a/b", "/c/0/d"}


def test_an_inline_merge_is_an_unknown_key() -> None:
    text = SOURCE.replace("utility: {min", "utility: {<<: {a: 1}, min")
    (error,) = faults(text)
    assert (error.pointer, error.code) == ("/gates/utility/<<", "unknown_key")


def test_yaml_that_begins_like_json_is_yaml() -> None:
    document = json.dumps(changed()).replace('"schema":', "schema:")
    assert load_document(document).digest == load_document(SOURCE).digest
    assert codes("{a: 1, a: 2}") == ["duplicate_key"]
    assert codes('{"a": ]') == ["not_json"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_refused(encoding: str) -> None:
    (error,) = faults(("# caf\u00e9\n" + SOURCE).encode(encoding))
    assert error.code in ("not_utf8", "not_yaml")


def test_a_byte_order_mark_is_no_content() -> None:
    digest = load_document(SOURCE).digest
    assert load_document("\ufeff" + SOURCE).digest == digest
    assert load_document(b"\xef\xbb\xbf" + json.dumps(changed()).encode()).digest == digest


def test_a_lone_surrogate_in_given_text_is_refused() -> None:
    assert codes("a: \ud800") == ["not_utf8"]
    assert codes({"a": "\ud800"}) == ["not_utf8"]
    assert codes({"\udfff": 1}) == ["not_utf8"]


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


MANY_KEYS = "\n".join(f"k{i}: 1" for i in range(500_000))
HEAVY = {
    "ten megabytes": "a: " + "x" * 10_000_000,
    "ten megabytes of bytes": b"\xff" * 10_000_000,
    "brackets": "[" * 900_000,
    "braces": "{" * 900_000,
    "json braces": '{"a":' * 150_000,
    "block nesting": "- " * 400_000,
    "question marks": "? " * 400_000,
    "half a million keys": MANY_KEYS,
    "keys in a flow": "{" + ",".join(f"k{i}" for i in range(110_000)) + "}",
    "json keys": json.dumps({f"k{i}": 1 for i in range(80_000)}),
    "unknown keys": json.dumps({f"contrac{i}": 1 for i in range(45_000)}),
    "one key again and again": "{" + ", ".join(['"a": 1'] * 49_000) + "}",
    "one long key": "k" * 900_000 + ": 1",
    "one long text": "schema: " + "x" * 900_000,
    "one quoted text": 'schema: "' + "\\u00e9" * 150_000 + '"',
    "one long comment": "#" * 900_000,
    "one long tag": "a: !" + "x" * 900_000 + " 1",
    "one long anchor": "a: &" + "x" * 900_000 + " 1",
    "blank lines": "\n" * 900_000,
    "colons": "a: " * 300_000,
    "digits": "a: " + "1" * 900_000,
    "exponents": "a: [" + ",".join(["1e-300"] * 40_000) + "]",
    "many dimensions": json.dumps(
        {
            **changed(),
            "segments": {"dimensions": [f"d{i}" for i in range(20_000)]},
            "fallback": [{"deny": True, "where": {f"e{i}": "x"}} for i in range(4_000)],
        }
    ),
    "many wrong routes": json.dumps(
        changed(classes={f"c{i}": {"model": f"m{i}"} for i in range(9_000)})
    ),
    "many wrong rules": json.dumps({**changed(), "fallback": [1] * 40_000}),
    "a wide selector": json.dumps(
        {**changed(), "fallback": [{"where": {"task": ["x y"] * 40_000}}]}
    ),
    "deep shares": json.dumps(changed(admission={"shares": nested(30)})),
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_heavy_document_is_answered_soon_and_briefly(name: str) -> None:
    begun = time.process_time()
    errors = faults(HEAVY[name])
    assert time.process_time() - begun < SOON_S
    assert 0 < len(errors) <= MAX_FAULTS + 1
    assert all(len(str(error)) < LONGEST_FAULT for error in errors)


@pytest.mark.parametrize(
    "name", ["ten megabytes", "keys in a flow", "many dimensions", "one quoted text", "blank lines"]
)
def test_a_heavy_document_takes_little_memory(name: str) -> None:
    tracemalloc.start()
    try:
        faults(HEAVY[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MUCH_BYTES


def test_the_largest_document_is_a_megabyte() -> None:
    room = MAX_BYTES - len(SOURCE.encode())
    assert load_document(SOURCE + "#" * room).digest == load_document(SOURCE).digest
    assert codes(SOURCE + "#" * (room + 1)) == ["too_large"]
