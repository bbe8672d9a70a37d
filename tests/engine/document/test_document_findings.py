"""Contradictions of a well-formed document, each by its name, provoked and absent."""

from collections.abc import Sequence
from typing import Any

import pytest

from orchid.engine.document.consistency import ERRORS, WARNINGS, Finding, RouteUtility, find
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document
from tests.engine.document.finding_cases.case import SHORT, Case, Edits, edited
from tests.engine.document.finding_cases.every_case import CASES

WARNED = {
    "demand_over_fleet_spike",
    "demand_over_fleet_group_loss",
    "demand_over_fleet_candidate_overlap",
}


def found(
    edits: Edits, evidence: Sequence[RouteUtility] = (), base: Edits | None = None
) -> list[Finding]:
    before = None if base is None else load_document(edited(base)).document
    return find(load_document(edited(edits)).document, evidence=evidence, base=before)


def codes(edits: Edits, evidence: Sequence[RouteUtility] = ()) -> set[str]:
    return {finding.code for finding in found(edits, evidence)}


def of_case(case: Case, edits: Edits, evidence: Sequence[RouteUtility]) -> list[Finding]:
    return found(edits, evidence, case.base)


@pytest.mark.parametrize("code", CASES)
def test_a_contradiction_is_named_where_it_is_with_its_arithmetic(code: str) -> None:
    case = CASES[code]
    told = [f for f in of_case(case, case.wrong, case.evidence) if f.code == code]
    at_place = [f for f in told if f.pointer == case.pointer]
    assert at_place, [f.pointer for f in told]
    assert any(case.said in f.text for f in at_place), [f.text for f in at_place]
    blocks = code in {check.__name__ for check in ERRORS}
    assert {f.severity for f in told} == {"error" if blocks else "warning"}


@pytest.mark.parametrize("code", CASES)
def test_the_nearest_sound_document_does_not_have_it(code: str) -> None:
    case = CASES[code]
    evidence = case.evidence if case.right_evidence is None else case.right_evidence
    told = of_case(case, case.right, evidence)
    assert [f for f in told if f.code == code] == []


def test_every_check_has_a_case_and_one_severity() -> None:
    checks = [check.__name__ for check in (*ERRORS, *WARNINGS)]
    assert len(checks) == len(set(checks))
    assert set(checks) == set(CASES)


def test_the_shipped_documents_contradict_themselves_nowhere(
    loaded_reference: LoadedDocument, demo: tuple[LoadedDocument, LoadedDocument]
) -> None:
    demand = {check.__name__ for check in WARNINGS if "demand_over" in check.__name__}
    for loaded in (loaded_reference, *demo):
        assert {f.code for f in find(loaded.document)} <= demand


def test_the_reference_is_warned_of_what_its_fleet_does_not_cover() -> None:
    findings = {f.code: f for f in found({})}
    assert set(findings) == WARNED
    assert {f.severity for f in findings.values()} == {"warning"}


def test_errors_come_first() -> None:
    severities = [f.severity for f in found({"approvals.cost": []})]
    assert severities == ["error", "warning", "warning", "warning"]


def test_an_example_that_is_decided_otherwise_is_an_error() -> None:
    told = found({"examples.0.expect": {"action": "reject", "reason": "concurrency"}})
    (finding,) = [f for f in told if f.code == "example_differs"]
    assert (finding.severity, finding.pointer) == ("error", "/examples/0")
    assert "expected action reject" in finding.text


def test_without_a_price_the_rest_is_still_checked() -> None:
    told = codes({"demand.model_factor.premium": None, "approvals.cost": []})
    assert {"model_without_factor", "approvals_of_zero"} <= told
    assert not any(code.startswith("demand_over_fleet") for code in told)


@pytest.mark.parametrize(
    ("path", "value", "pointer", "code"),
    [
        ("gates.goodput", {"min": 300}, "/gates/goodput", "unknown_key"),
        ("gates.utilitty", {"min": 0.9, "window": "1h"}, "/gates/utilitty", "unknown_key"),
        ("gates.utility.window", None, "/gates/utility/window", "missing"),
        ("gates.attainment.window", None, "/gates/attainment/window", "missing"),
        ("gates", {}, "/gates/attainment", "missing"),
        ("gates", None, "/gates", "missing"),
        ("admission.hedging", {"after": "50ms"}, "/admission/hedging", "unknown_key"),
        ("models.full.early_stop", {"version": "1"}, "/models/full/early_stop/evidence", "missing"),
    ],
)
def test_an_unknown_metric_no_window_and_no_gates_are_no_document(
    path: str, value: Any, pointer: str, code: str
) -> None:
    with pytest.raises(DocumentErrors) as caught:
        load_document(edited({path: value}))
    assert (pointer, code) in {(error.pointer, error.code) for error in caught.value.errors}


def test_a_cascade_is_void_when_a_model_changes_under_its_validation() -> None:
    other = {
        "models.compact.tokenizer": "tok-32k-v6",
        "routing.cascade.small_manifest": None,
        "fleet.pool": "canary",
    }
    (finding,) = [f for f in found(other, base={}) if f.code == "cascade_void"]
    assert "compact is another model than suite cascade-confidence 4" in finding.text
    again = {**other, "routing.cascade.validated_by": "suite cascade-confidence 5"}
    assert "cascade_void" not in {f.code for f in found(again, base={})}


def test_more_replicas_than_devices_may_hold_are_told_by_count() -> None:
    told = found({"fleet.max_resident_models": 1, "fleet.replicas.compact": 5})
    (finding,) = [f for f in told if f.code == "residents_over_device"]
    assert finding.text == "29 replicas on 28 devices of at most 1 models each"


def test_a_cascade_is_void_when_its_prompt_changes() -> None:
    told = found({"routing.cascade.prompt_version": "prompt-2"}, base={})
    (finding,) = [f for f in told if f.code == "cascade_void"]
    assert "the prompt changed" in finding.text


def test_a_rule_is_vacuous_under_a_prohibition_of_all_of_it() -> None:
    told = found({"fallback.1": {"deny": True, "where": {}}})
    (finding,) = [f for f in told if f.code == "fallback_never"]
    assert (finding.pointer, finding.text[:17]) == ("/fallback/0", "a deny rule cover")


def test_a_prohibition_is_vacuous_where_nothing_is_allowed() -> None:
    told = found({"fallback": [{"deny": True, "where": {}}]})
    assert [f.text for f in told if f.code == "deny_never"] == [
        "no rule allows a fallback that it could deny"
    ]


def test_a_longer_ring_is_found() -> None:
    ring = [
        {"from": "full", "to": "compact", "where": {}},
        {"from": "compact", "to": "premium", "where": {"task": "classification"}},
        {"from": "premium", "to": "full", "where": {"task": "document_generation"}},
    ]
    told = found({"fallback": ring})
    assert [f.pointer for f in told if f.code == "fallback_ring"] == [
        "/fallback/0",
        "/fallback/1",
        "/fallback/2",
    ]


def test_two_first_choices_for_one_request_are_ambiguous() -> None:
    rules = [
        {"from": "full", "to": "compact", "prefer": True, "where": SHORT},
        {"from": "full", "to": "premium", "prefer": True, "where": SHORT},
    ]
    assert "ambiguous_fallback" in codes({"fallback": rules})
    rules[1]["prefer"] = False
    assert "ambiguous_fallback" not in codes({"fallback": rules})


def test_one_selector_twice_is_a_ladder() -> None:
    rules = [
        {"from": "full", "to": "compact", "where": SHORT},
        {"from": "full", "to": "premium", "where": SHORT},
    ]
    assert "ambiguous_fallback" not in codes({"fallback": rules})


def test_a_narrower_floor_is_the_one_that_evidence_is_held_against() -> None:
    lower = {"where": {"task": "short_assistant"}, "min_utility": 0.85}
    cell = [RouteUtility("compact", SHORT, 0.86)]
    assert "fallback_below_floor" in codes({}, cell)
    assert "fallback_below_floor" not in codes({"segments.floors.+": lower}, cell)


def test_a_floor_that_narrower_ones_leave_nothing_of_never_speaks() -> None:
    narrower = [
        {"where": {"task": name, "risk": "low"}, "min_utility": 0.9}
        for name in ("classification", "short_assistant", "long_assistant", "document_generation")
    ]
    floors = [{"where": {}, "min_utility": 0.895}, *narrower]
    closed = {"segments.floors": floors, "admission.conservative_route": None}
    told = [f.pointer for f in found(closed) if f.code == "floor_never"]
    assert told == ["/segments/floors/0"]
    # An undeclared class may be anything, so the floor for everything is the one it meets.
    assert "floor_never" not in codes({"segments.floors": floors})


def test_a_static_limit_never_locks_itself() -> None:
    assert "adaptive_floor_low" not in codes({"admission.concurrency.floor": 1})


def test_a_cell_disabled_on_the_conservative_route_has_nowhere_to_go() -> None:
    told = found({"demand.cells": [{"route": "full", "disabled": True}]})
    (finding,) = [f for f in told if f.code == "cell_disabled_without_route"]
    assert "the conservative route is full itself" in finding.text


def test_a_single_token_has_nothing_to_continue() -> None:
    edits = {
        "classes.classification.max_output_tokens": 1,
        "fallback": [],
        "scheduling.routes": {"compact": {"mode": "continuous"}},
    }
    assert "scheduling_mode_misfit" in codes(edits)


def test_a_first_try_after_the_queue_age_is_none() -> None:
    waits = {"deadline": "2h", "max_queue_age": "30m", "after": "31m"}
    edits = {
        "classes.long_assistant.interactive": False,
        "classes.long_assistant.deferral": waits,
    }
    (finding,) = [f for f in found(edits) if f.code == "deferral_without_room"]
    assert finding.pointer == "/classes/long_assistant/deferral/after"
