"""What follows a small route's answer."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.cascade import SmallAnswer, Verdict, Work, both_calls, next_step, refused
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade
from tests.reference_document import changed

# On full: 30 ms fixed, 22.5 of prefill, 240 of decode, 60 kept back after the model: 352.5 ms.
WORK = Work(input_tokens=900, max_output_tokens=120, deadline_ms=1500)


def cascading(**keys: Any) -> tuple[PolicyDocument, Cascade]:
    given = changed()
    given["routing"]["cascade"].update(keys)
    document = load_document(given).document
    assert document.routing.cascade is not None
    return document, document.routing.cascade


def test_a_confident_answer_is_accepted() -> None:
    step = next_step(*cascading(), WORK, SmallAnswer(300, confidence=0.8))
    assert (step.verdict, step.reason) == (Verdict.ACCEPT, "confident")
    assert step.log == ("confidence 0.8 >= 0.8",)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (SmallAnswer(300, confidence=0.79), "low_confidence"),
        (SmallAnswer(300, confidence=None), "low_confidence"),
        (SmallAnswer(300, confidence=float("nan")), "low_confidence"),
        (SmallAnswer(300, confidence=0.99, schema_valid=False), "schema_failure"),
        (SmallAnswer(300, timed_out=True), "timeout"),
    ],
)
def test_trouble_escalates_with_what_is_left_of_the_deadline(
    answer: SmallAnswer, reason: str
) -> None:
    step = next_step(*cascading(), WORK, answer)
    assert (step.verdict, step.reason) == (Verdict.ESCALATE, reason)
    call = step.escalation
    assert call is not None
    assert (call.route, call.left_ms, call.teu) == ("full", 1200, Decimal(345))
    assert (call.input_tokens, call.max_output_tokens) == (900, 120)


def test_what_the_policy_does_not_escalate_ends_and_is_no_success() -> None:
    document, cascade = cascading(escalate_on=["timeout"])
    step = next_step(document, cascade, WORK, SmallAnswer(300, confidence=0.1))
    assert (step.verdict, step.reason, step.escalation) == (Verdict.STOP, "low_confidence", None)


@pytest.mark.parametrize(("elapsed", "verdict"), [(1147.5, "escalate"), (1148, "stop")])
def test_an_escalation_that_cannot_fit_is_a_typed_outcome(elapsed: float, verdict: str) -> None:
    step = next_step(*cascading(), WORK, SmallAnswer(elapsed, confidence=0.1))
    assert step.verdict == verdict
    assert step.reason == ("low_confidence" if verdict == "escalate" else "escalation_infeasible")


def test_a_refused_escalation_keeps_the_reason_and_no_answer() -> None:
    step = next_step(*cascading(), WORK, SmallAnswer(300, confidence=0.1))
    ended = refused(step, "share_exhausted")
    assert (ended.verdict, ended.reason, ended.escalation) == (
        Verdict.STOP,
        "escalation_refused",
        None,
    )
    assert ended.log[-1] == "the escalation was refused: share_exhausted"


def test_small_first_needs_room_for_both_calls() -> None:
    document, cascade = cascading(small_timeout="400ms")
    calls = both_calls(document, cascade, WORK)
    assert calls is not None
    assert (calls.small_ms, calls.large_ms, calls.spare_ms, calls.fits) == (400, 352.5, 747.5, True)
    tight = both_calls(document, cascade, Work(900, 120, 750))
    assert tight is not None
    assert not tight.fits
