"""Which route a request asks for, and the log that says why."""

from datetime import UTC, datetime
from typing import Any

import pytest

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.outcome import populations
from orchid.engine.pricing import demand_by_class
from orchid.engine.routing import Branch, class_route, route_for, void_reasons
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord
from tests.reference_document import changed

ASSISTANT = {"task": "short_assistant", "tenant_class": "standard", "risk": "low"}
CASCADE = {"small": "compact", "large": "full", "threshold": 0.8, "validated_by": "suite 4"}
CLASSIFIER = {
    "version": "router-2",
    "threshold": 0.7,
    "evidence": "suite 5",
    "large": "full",
    "small": "compact",
}


def routed(**routing: Any) -> PolicyDocument:
    """The reference document with another `routing` section altogether."""
    given = changed()
    given["routing"] = routing
    return load_document(given).document


def test_the_first_matching_rule_wins() -> None:
    document = routed(
        rules=[
            {"where": {"task": "short_assistant"}, "route": "premium"},
            {"where": {"tenant_class": "standard"}, "route": "compact"},
        ]
    )
    choice = route_for(document, "short_assistant", ASSISTANT)
    assert (choice.route, choice.branch) == ("premium", Branch.RULE)
    assert "rule 1" in choice.reason
    other = route_for(document, "long_assistant", {**ASSISTANT, "task": "long_assistant"})
    assert (other.route, other.reason) == ("compact", "rule 2 (tenant_class=standard)")


def test_without_a_matching_rule_the_class_asks(reference: PolicyDocument) -> None:
    choice = route_for(reference, "short_assistant", ASSISTANT)
    assert (choice.route, choice.branch, choice.escalates) == ("full", Branch.CLASS, False)
    assert choice.log[0] == "none of 2 rules matches"


def test_an_unknown_class_takes_the_conservative_route_or_none(reference: PolicyDocument) -> None:
    choice = route_for(reference, "poetry", ASSISTANT)
    assert (choice.route, choice.branch) == ("full", Branch.CONSERVATIVE)
    given = changed()
    del given["admission"]["conservative_route"]
    nothing = route_for(load_document(given).document, "poetry", ASSISTANT)
    assert (nothing.route, nothing.branch) == (None, Branch.NONE)


@pytest.mark.parametrize(
    ("score", "route", "branch"),
    [(0.7, "compact", "classifier"), (0.69, "full", "classifier"), (None, "full", "class")],
)
def test_a_classifier_takes_small_from_its_threshold_on(
    score: float | None, route: str, branch: str
) -> None:
    document = routed(classifier=CLASSIFIER)
    choice = route_for(document, "short_assistant", ASSISTANT, score=score)
    assert (choice.route, choice.branch) == (route, branch)
    assert choice.log[-1].startswith(
        f"classifier: {route}" if score else "classifier router-2 gave no score"
    )


def test_a_cascade_needs_a_caller_who_can_escalate() -> None:
    document = routed(cascade=CASCADE)
    assert route_for(document, "short_assistant", ASSISTANT).route == "full"
    choice = route_for(document, "short_assistant", ASSISTANT, scores_answers=True)
    assert (choice.route, choice.branch, choice.escalates) == ("compact", Branch.CASCADE, True)


def test_no_other_route_is_traded_for_the_small_one() -> None:
    document = routed(cascade=CASCADE)
    dims = {"task": "document_generation"}
    assert route_for(document, "document_generation", dims, scores_answers=True).route == "premium"


def test_an_always_large_segment_never_meets_the_small_route() -> None:
    document = routed(
        rules=[{"where": {"language": "en"}, "route": "compact"}],
        always_large=[{"risk": ["regulated", "high"]}],
        cascade=CASCADE,
    )
    calm = {**ASSISTANT, "language": "en"}
    risky = {**calm, "risk": "high"}
    assert route_for(document, "short_assistant", calm).route == "compact"
    choice = route_for(document, "short_assistant", risky, scores_answers=True)
    assert (choice.route, choice.branch, choice.escalates) == ("full", Branch.ALWAYS_LARGE, False)
    french = {**risky, "language": "fr"}
    kept = route_for(document, "short_assistant", french, scores_answers=True)
    assert (kept.route, kept.branch) == ("full", Branch.CLASS)
    assert kept.log[-1] == "segment is always large: no small route is tried"


def test_a_threshold_is_void_once_a_model_or_the_prompt_changes(
    reference: PolicyDocument,
) -> None:
    pinned = {
        **CASCADE,
        "prompt_version": "prompt-9",
        "small_manifest": manifest_digest(reference.models["compact"]),
        "large_manifest": manifest_digest(reference.models["full"]),
    }
    document = routed(cascade=pinned)
    cascade = document.routing.cascade
    assert cascade is not None
    assert void_reasons(document, cascade, "prompt-9") == ()
    assert "prompt-10" in void_reasons(document, cascade, "prompt-10")[0]

    given = changed()
    given["routing"] = {"cascade": pinned}
    given["models"]["compact"]["precision"] = "int4"
    upgraded = load_document(given).document
    choice = route_for(upgraded, "short_assistant", ASSISTANT, scores_answers=True)
    assert (choice.route, choice.branch, choice.escalates) == ("full", Branch.CLASS, False)
    assert "the small model compact is not the one" in choice.log[-1]


def test_a_class_is_priced_on_the_route_that_its_rules_give_it() -> None:
    document = routed(rules=[{"where": {"task": "short_assistant"}, "route": "premium"}])
    assert class_route(document, "short_assistant") == "premium"
    demand = demand_by_class(document)["short_assistant"]
    assert demand.route == "premium"
    assert demand.teu_per_request == 621


def answered(document: PolicyDocument, route: str, task: str) -> frozenset[str]:
    """Populations of a whole, valid answer in time by the route."""
    attempt = AttemptRecord(
        attempt_id="a1", route=route, manifest=manifest_digest(document.models[route])
    )
    record = RequestRecord(
        request_id="r1",
        product=document.product,
        arrived_at=datetime(2026, 11, 1, tzinfo=UTC),
        outcome="completed",
        class_=task,
        segment={"task": task, "risk": "high", "input_bucket": "513-4096"},
        completion_ms=100.0,
        policy_valid=True,
        schema_valid=True,
        decision=DecisionRecord(action="admit", route=route),
        attempts=(attempt,),
    )
    return populations(record, document)


def test_an_answer_by_the_route_that_the_rules_name_is_a_success() -> None:
    document = routed(rules=[{"where": {"task": "short_assistant"}, "route": "premium"}])
    assert "technical_success" in answered(document, "premium", "short_assistant")
    assert "technical_success" not in answered(document, "full", "short_assistant")


def test_the_conservative_route_stands_in_for_a_shape_that_calibration_took_out() -> None:
    given = changed()
    cell = {"route": "premium", "input_bucket": "513-4096", "disabled": True}
    assert "technical_success" not in answered(
        load_document(given).document, "full", "document_generation"
    )
    given["demand"]["cells"] = [cell]
    assert "technical_success" in answered(
        load_document(given).document, "full", "document_generation"
    )


def test_an_undeclared_class_succeeds_by_the_conservative_route_where_there_is_one() -> None:
    document = load_document(changed()).document
    assert "technical_success" in answered(document, "full", "translation")
    assert "technical_success" not in answered(document, "premium", "translation")
    given = changed()
    del given["admission"]["conservative_route"]
    assert "technical_success" not in answered(load_document(given).document, "full", "translation")
