"""What a document may not be, and how each fault is told."""

import json
from typing import Any

import pytest
import yaml

from orchid.engine.document.errors import DocumentError, DocumentErrors
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.parse import Media
from tests.reference_document import SOURCE, changed


def faults(data: Any) -> dict[str, DocumentError]:
    with pytest.raises(DocumentErrors) as caught:
        load_document(data)
    return {error.pointer: error for error in caught.value.errors}


def test_the_same_document_loads_from_yaml_json_and_values() -> None:
    values = yaml.safe_load(SOURCE)
    loaded = [load_document(form) for form in (SOURCE, SOURCE.encode(), json.dumps(values), values)]
    assert len({item.digest for item in loaded}) == 1
    assert all(item.document == loaded[0].document for item in loaded)


def test_what_was_given_is_kept_as_it_was_written(loaded_reference: LoadedDocument) -> None:
    given = loaded_reference.given
    assert given["gates"]["completion_p95_ms"]["window"] == "15m"
    assert loaded_reference.document.gates.completion_p95_ms.window_ms == 900_000
    assert load_document(json.loads(json.dumps(given))).digest == loaded_reference.digest


def test_a_document_does_not_change_under_its_reader(loaded_reference: LoadedDocument) -> None:
    with pytest.raises(ValueError, match="frozen"):
        loaded_reference.document.fleet.devices = 1  # type: ignore[misc]  # what is refused


def test_every_fault_is_told_at_once_with_its_place() -> None:
    text = (
        SOURCE.replace("max_queued_teu: 45000", "max_queud_teu: 45000")
        .replace("clock: completion", "clock: complete")
        .replace("model: premium", "model: premum")
        .replace("window: 15m", "window: 15 min", 1)
    )
    found = faults(text)
    assert set(found) == {
        "/admission/max_queued_teu",
        "/admission/max_queud_teu",
        "/contract/clock",
        "/classes/document_generation/model",
        "/gates/completion_p95_ms/window",
    }
    assert found["/admission/max_queud_teu"].hint == "did you mean max_queued_teu?"
    assert "completion" in found["/contract/clock"].allowed
    assert found["/classes/document_generation/model"].hint == "did you mean premium?"
    assert found["/gates/completion_p95_ms/window"].found == '"15 min"'


@pytest.mark.parametrize(
    ("written", "otherwise", "pointer", "hint"),
    [
        ("on_breach: rollback", "on_breach: rolback", "/rollout/on_breach", "rollback"),
        ("[stop_shadow,", "[stop_shadows,", "/overload/0", "stop_shadow"),
        ("mode: static_knee", "mode: static-knee", "/admission/concurrency/mode", "static_knee"),
        ("cost: [product_owner]", "cost: [product_owners]", "/approvals/cost/0", "product_owner"),
        ("{task: classification}, minimum", "{tasks: classification}, minimum",
         "/gates/segments/0/where/tasks", "task"),
        ("conservative_route: full", "conservative_route: ful", "/admission/conservative_route",
         "full"),
        ("{class: classification}", "{class: clasification}", "/examples/0/given/class",
         "classification"),
    ],
)  # fmt: skip
def test_the_nearest_value_is_named(written: str, otherwise: str, pointer: str, hint: str) -> None:
    (error,) = faults(SOURCE.replace(written, otherwise, 1)).values()
    assert (error.pointer, error.hint) == (pointer, f"did you mean {hint}?")
    assert hint in error.allowed


@pytest.mark.parametrize(
    ("written", "otherwise", "allowed"),
    [
        ("devices: 28", 'devices: "28"', "a whole number from 1"),
        ("interactive: true", 'interactive: "true"', "true or false"),
        ("window: 15m", 'window: "900000"', "a duration such as 30s"),
    ],
)
def test_quotes_too_many_are_told(written: str, otherwise: str, allowed: str) -> None:
    (error,) = faults(SOURCE.replace(written, otherwise, 1)).values()
    assert error.hint == "write it without quotes"
    assert error.allowed.startswith(allowed)


@pytest.mark.parametrize(
    ("where", "value", "allowed"),
    [
        (("fleet", "devices"), 1.5, "a whole number from 1 to "),
        (("fleet", "devices"), 1e30, "a whole number from 1 to "),
        (("fleet", "devices"), 10**25, "a whole number from 1 to "),
        (("fleet", "group_size"), -1, "a whole number from 1 to "),
        (("fleet", "safe_factor"), 0, "a number above 0"),
        (("contract", "post_model_reserve_ms"), -1, "a whole number from 0 to "),
        (("gates", "attainment"), {"min": "most", "window": "15m"}, "a number from 0 to 1"),
        (("gates", "attainment"), {"min": 2, "window": "15m"}, "a number from 0 to 1"),
        (("gates", "alpha_fail"), 1, "a number above 0 and below 1"),
        (("rollout", "acknowledged_share"), 2, "a number above 0 and at most 1"),
        (("rollout", "stages"), [], "a list or mapping of at least 1"),
        (("rollout", "strata"), "route", "a list"),
        (("fleet", "residency_gib"), [], "a mapping"),
        (("segments", "dimensions"), ["a b"], "a name of letters"),
        (("contract", "population"), {"name": ""}, "text of at least 1 character"),
        (("contract", "population"), {"name": 1}, "text"),
    ],
)
def test_what_is_allowed_is_said_in_plain_words(
    where: tuple[str, str], value: Any, allowed: str
) -> None:
    given = changed()
    given[where[0]][where[1]] = value
    assert any(error.allowed.startswith(allowed) for error in faults(given).values())


def test_the_one_word_that_is_allowed_is_not_told_twice() -> None:
    error = faults(SOURCE.replace("orchid.policy/v1", "orchid.policy/v2"))["/schema"]
    assert (error.allowed, error.hint) == ("orchid.policy/v1", "")


@pytest.mark.parametrize("media", ["yaml", None])
def test_an_empty_document_is_nothing(media: Any) -> None:
    with pytest.raises(
        DocumentErrors, match=r"^the document: found nothing, allowed is a mapping$"
    ):
        load_document("# soon\n", media=media)


@pytest.mark.parametrize(
    ("text", "media", "said"),
    [
        ("a: [1", "yaml", r"found no YAML at line \d, column \d \("),
        ("a: @x", "yaml", r"found no YAML at line 1, column 4 \(found character"),
        ("a: b: c", "yaml", r"found no YAML at line 1, column 5 \(mapping values are not allowed"),
        ("a: 1\nb: \x07", "yaml", r"found no YAML at line 2 \("),
        ('{"a": ', "json", r"found no JSON at line 1, column 7 \(Expecting value\)"),
    ],
)
def test_text_that_is_no_document_says_where_in_one_sentence(
    text: str, media: Any, said: str
) -> None:
    with pytest.raises(DocumentErrors, match=f"^the document: {said}.*, allowed is (YAML|JSON)$"):
        load_document(text, media=media)


def test_a_bad_name_of_a_key_is_shown_and_not_its_content() -> None:
    given = changed(fleet={"replicas": {"a b": 1}})
    error = faults(given)["/fleet/replicas/a b"]
    assert (error.found, error.code) == ('key "a b"', "bad_key")


def test_a_gate_on_an_unknown_metric_is_refused() -> None:
    given = changed()
    given["gates"]["gpu_utilisation"] = {"min": 0.9, "window": "15m"}
    found = faults(given)
    assert found["/gates/gpu_utilisation"].code == "unknown_key"
    assert "attainment" in found["/gates/gpu_utilisation"].allowed


def test_an_empty_set_of_gates_is_refused() -> None:
    assert set(faults({**changed(), "gates": {}})) == {
        "/gates/completion_p95_ms",
        "/gates/cost_per_success_usd",
        "/gates/utility",
        "/gates/attainment",
        "/gates/violations",
    }


def test_a_gate_without_a_window_is_refused() -> None:
    given = changed()
    del given["gates"]["utility"]["window"]
    assert faults(given)["/gates/utility/window"].code == "missing"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{a: 1, a: 2}", "duplicate_key"),
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ("a: &x 1\nb: *x", "anchor"),
        ("a: &x [1]\nb: &y [*x, *x]\nc: [*y, *y]", "anchor"),
        ("a: !!python/object:os.system {}", "tag"),
        ("a: .nan", "not_finite"),
        ("a: 1e999", "not_finite"),
        ('{"ttft_ms": NaN}', "not_finite"),
        ('{"a": 1e999}', "not_finite"),
        ('{"a": ' + "9" * 5000 + "}", "huge_number"),
        ("a: " + "9" * 5000, "huge_number"),
        ("[" * 100 + "]" * 100, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("? [a, b]\n: 1", "bad_key"),
        ("a: [1", "not_yaml"),
        ("a: 1\n---\nb: 2", "not_yaml"),
        ('{"a": }', "not_json"),
        ("", "not_a_mapping"),
        ("just text", "not_a_mapping"),
        ('{"a": "\\ud800"}', "not_utf8"),
        ('a: "b\\0c"', "nul"),
        ('{"a": {"b\\u0000c": 1}}', "nul"),
        (b"a: \xff\xfe", "not_utf8"),
        (b"a" * 10_000_000, "too_large"),
        ("- [a]\n" * 60_000, "too_large"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_unbounded_or_ambiguous_input_is_refused(text: str | bytes, code: str) -> None:
    media: Media = "json" if isinstance(text, str) and text.startswith('{"') else "yaml"
    with pytest.raises(DocumentErrors) as caught:
        load_document(text, media=media)
    assert [error.code for error in caught.value.errors] == [code]


def test_the_place_of_an_unreadable_line_is_told() -> None:
    (error,) = faults("a: 1\nb: [2\n").values()
    assert "line 3" in error.found


def test_words_that_look_like_truth_are_text() -> None:
    given = changed()
    text = SOURCE.replace("language: en", "language: no")
    assert load_document(text).document.classes["classification"].dimensions["language"] == "no"
    assert given["classes"]["classification"]["dimensions"]["language"] == "en"


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("fleet", "devices"), True),
        (("fleet", "devices"), "28"),
        (("fleet", "devices"), 0),
        (("fleet", "devices"), 10**30),
        (("fleet", "device_usd_per_h"), "-1"),
        (("fleet", "device_usd_per_h"), "4,80"),
        (("fleet", "device_usd_per_h"), "NaN"),
        (("fleet", "device_usd_per_h"), "1" * 40),
        (("gates", "alpha_pass"), 1),
        (("contract", "deadline_ms"), None),
        (("contract", "deadline_ms"), 10**14),
        (("rollout", "stages"), []),
        (("rollout", "stages"), [{"canary": 0.5, "shadow": "1h"}]),
        (("rollout", "strata"), ["colour"]),
    ],
)
def test_values_out_of_their_range_are_refused(where: tuple[str, str], value: Any) -> None:
    given = changed()
    given[where[0]][where[1]] = value
    assert any(pointer.startswith("/" + "/".join(where)) for pointer in faults(given))


def test_faults_of_items_are_not_told_again_as_a_short_list() -> None:
    given = changed()
    given["rollout"]["stages"] = [{"canary": 2, "hold": "20s"}]
    assert set(faults(given)) == {"/rollout/stages/0/canary"}


def test_a_key_with_a_slash_has_an_escaped_pointer() -> None:
    given = changed()
    given["admission"]["shares"]["region/eu"]["ceiling"] = 3
    assert set(faults(given)) == {"/admission/shares/region~1eu/ceiling"}


def test_the_faults_that_are_told_are_bounded() -> None:
    with pytest.raises(DocumentErrors) as caught:
        load_document({**changed(), **{f"key{i}": 1 for i in range(2_000)}})
    assert len(caught.value.errors) == 501
    assert caught.value.errors[-1].code == "too_many"
