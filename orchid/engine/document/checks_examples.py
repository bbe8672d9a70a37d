"""Runs the decisions that a document says it must produce, by the admission that will make them."""

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.document.findings import Finding, Findings, Subject
from orchid.engine.document.operation import Example, ExampleExpect, ExampleGiven


def examples_hold(subject: Subject) -> Findings:
    policy = compile_policy(subject.document)
    for i, example in enumerate(subject.document.examples):
        decision = _decided(policy, example.given)
        found = _as_expected(decision, example.expect)
        if found != _expected(example):
            yield Finding(
                "example_differs",
                "error",
                f"/examples/{i}",
                f"expected {_shown(_expected(example))}, decided {_shown(found)}",
            )


def _decided(policy: CompiledPolicy, given: ExampleGiven) -> Decision:
    """On an idle fleet, at time zero."""
    request = AdmissionRequest(
        request_id="example",
        class_=given.class_,
        arrived_ms=0.0,
        tenant=given.tenant or "-",
        segment=dict(given.segment),
        input_tokens=given.input_tokens,
        max_output_tokens=given.max_output_tokens,
        deadline_ms=given.deadline_in_ms,
    )
    state = idle_state(policy, slots=policy.document.fleet.devices, warm=given.warm)
    return decide(request, state, policy, 0.0)


def _expected(example: Example) -> dict[str, str]:
    return example.expect.model_dump(exclude_none=True)


def _as_expected(decision: Decision, expect: ExampleExpect) -> dict[str, str]:
    """The decision in the fields that the example speaks of."""
    said = {
        "action": str(decision.action),
        "route": decision.offer.route if decision.offer else "",
        "reason": str(decision.reason),
    }
    asked = expect.model_dump(exclude_none=True)
    return {key: value for key, value in said.items() if key in asked}


def _shown(fields: dict[str, str]) -> str:
    return ", ".join(f"{key} {value or 'none'}" for key, value in fields.items())
