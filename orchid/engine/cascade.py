"""What follows a small route's answer: accept it, escalate, or end with a reason.

A low-confidence answer is never handed on as a success because the large route had no room: the
escalation has what is left of the deadline, its own tokens and its own reservation, and where it
can't fit, the request ends by a typed outcome.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade
from orchid.engine.pricing import teu
from orchid.engine.timing import alone_ms, service_ms


class Verdict(StrEnum):
    ACCEPT = "accept"
    ESCALATE = "escalate"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class SmallAnswer:
    """How the small call ended, `elapsed_ms` after the request's arrival.

    `confidence` is the scorer's; None is not confident. `schema_valid` None is not known, which
    later validation decides.
    """

    elapsed_ms: float
    confidence: float | None = None
    schema_valid: bool | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What the request asks for, its deadline counted from arrival."""

    input_tokens: int
    max_output_tokens: int
    deadline_ms: float
    cached_tokens: int = 0
    """Of the large route's own prefix cache: the small one's is another model's."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """The second call: an attempt of the same request, to be admitted and reserved for itself."""

    route: str
    input_tokens: int
    max_output_tokens: int
    left_ms: float
    teu: Decimal


@dataclass(frozen=True, slots=True)
class Step:
    """The cascade's decision. `reason` is stable; `log` says it with its figures."""

    verdict: Verdict
    reason: str
    log: tuple[str, ...]
    escalation: Escalation | None = None


def next_step(document: PolicyDocument, cascade: Cascade, work: Work, answer: SmallAnswer) -> Step:
    """Judge the small route's answer by the policy's rules, in the order of what went wrong."""
    trouble, said = _trouble(cascade, answer)
    if trouble is None:
        return Step(Verdict.ACCEPT, "confident", (said,))
    if trouble not in cascade.escalate_on:
        return Step(Verdict.STOP, trouble, (said, f"the policy does not escalate on {trouble}"))
    left = work.deadline_ms - answer.elapsed_ms
    need = _needed_ms(document, cascade, work)
    if need is not None and need > left:
        said_too = f"{cascade.large} needs {need:g} ms, {max(left, 0):g} ms are left"
        return Step(Verdict.STOP, "escalation_infeasible", (said, said_too))
    price = teu(document.demand, cascade.large, work.input_tokens, work.max_output_tokens)
    call = Escalation(cascade.large, work.input_tokens, work.max_output_tokens, left, price)
    said_too = f"{cascade.large} is asked with {left:g} ms left, priced {price:f} TEU"
    return Step(Verdict.ESCALATE, trouble, (said, said_too), call)


def refused(step: Step, reason: str) -> Step:
    """The end of an escalation that admission refused: its reason is kept, no answer is."""
    said = f"the escalation was refused: {reason}"
    return Step(Verdict.STOP, "escalation_refused", (*step.log, said))


def _needed_ms(document: PolicyDocument, cascade: Cascade, work: Work) -> float | None:
    """Least time of the large call with the post-model reserve."""
    tokens = work.input_tokens, work.max_output_tokens, work.cached_tokens
    return alone_ms(document, cascade.large, *tokens)


@dataclass(frozen=True, slots=True)
class BothCalls:
    """Room for small and then large within one deadline, each alone on a warm replica."""

    small_ms: float
    large_ms: float
    deadline_ms: float

    @property
    def spare_ms(self) -> float:
        return self.deadline_ms - self.small_ms - self.large_ms

    @property
    def fits(self) -> bool:
        return self.spare_ms >= 0


def both_calls(document: PolicyDocument, cascade: Cascade, work: Work) -> BothCalls | None:
    """The small call as long as it may take and then the large one; None without timing."""
    small, large = document.models[cascade.small].timing, _needed_ms(document, cascade, work)
    if small is None or large is None:
        return None
    alone = service_ms(small, work.input_tokens, work.max_output_tokens)
    waits = cascade.small_timeout_ms
    return BothCalls(alone if waits is None else float(waits), large, work.deadline_ms)


def _trouble(cascade: Cascade, answer: SmallAnswer) -> tuple[str | None, str]:
    """What is wrong with the answer, and the log's line about it."""
    if answer.timed_out:
        return "timeout", f"{cascade.small} gave no answer within {answer.elapsed_ms:g} ms"
    if answer.schema_valid is False:
        return "schema_failure", f"{cascade.small}'s answer fails its schema"
    if answer.confidence is None:
        return "low_confidence", f"{cascade.small}'s answer was not scored"
    # Not `<`: a scorer that answers NaN vouches for nothing.
    confident = answer.confidence >= cascade.threshold
    said = f"confidence {answer.confidence:g} {'>=' if confident else '<'} {cascade.threshold:g}"
    return (None if confident else "low_confidence"), said
