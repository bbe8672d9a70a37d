"""One decision: the questions in their order, and the first that says no gives the reason.

Feasibility comes before share and share before the queue, so no priority launches work that can't
be done in time, and a request that is refused for one thing is charged for none.
"""

import msgspec

from orchid.engine.admission.explain import explained
from orchid.engine.admission.overload import NORMAL
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.refusal import deferral, refusal
from orchid.engine.admission.request import (
    STEPS,
    AdmissionRequest,
    Constraint,
    Decision,
    Offer,
    Reason,
    Shape,
)
from orchid.engine.admission.shape import measured, unserved
from orchid.engine.admission.state import AdmissionState
from orchid.engine.admission.steps import Refused, tried

_PUT_OFF = frozenset({"time", "memory", "budget", "share", "queue"})


def decide(
    request: AdmissionRequest,
    state: AdmissionState,
    policy: CompiledPolicy,
    now_ms: float,
    *,
    explain: bool = False,
) -> Decision:
    """Admit by the first option that passes every question, or refuse for the requested route's.

    Pure: it reads `state` and moves nothing. Equal arguments give equal decisions.
    """
    decision = _decided(request, state, policy, now_ms)
    return _with_arithmetic(decision, state, policy, now_ms) if explain else decision


def _with_arithmetic(
    decision: Decision, state: AdmissionState, policy: CompiledPolicy, now_ms: float
) -> Decision:
    """The decision with every constraint of every option."""
    shape, ladder = decision.shape, state.ladders.get(policy.digest, NORMAL)
    found = explained(shape, state, policy, ladder, now_ms)
    return msgspec.structs.replace(decision, explained=found)


def _decided(
    request: AdmissionRequest, state: AdmissionState, policy: CompiledPolicy, now_ms: float
) -> Decision:
    shape = measured(request, policy)
    cell = shape.cell
    if not cell.simple or shape.input_tokens < 0 or shape.output_tokens < 0:
        reason = unserved(shape, policy)
        if reason is not None:
            return _refused(shape, policy, Refused(reason), ())
    ladder = state.ladders.get(policy.digest, NORMAL)
    options = cell.options
    if ladder.rung:
        if ladder.stops(cell.purpose):
            return _refused(shape, policy, Refused(Reason.OVERLOAD), ())
        put_off = deferral(shape, policy, now_ms) if ladder.defers_async else None
        if put_off is not None:
            return Decision(shape, None, None, put_off, (_said(cell.route, Reason.OVERLOAD),))
        if ladder.compact_first(cell.route):
            options = cell.compact_first
    main: Refused | None = None
    fell_out: tuple[Constraint, ...] = ()
    for option in options:
        answer = tried(option, shape, state, policy, ladder, now_ms)
        if isinstance(answer, Offer):
            return Decision(shape, answer, None, None, fell_out)
        fell_out += (_said(option.label, answer.reason),)
        if option.label == cell.route:
            main = answer
    assert main is not None
    return _given_up(shape, policy, main, fell_out, now_ms)


def _said(label: str, reason: Reason) -> Constraint:
    return Constraint(label, STEPS[reason], reason)


def _refused(
    shape: Shape, policy: CompiledPolicy, why: Refused, explained: tuple[Constraint, ...]
) -> Decision:
    request_id = shape.request.request_id
    answer = refusal(why.reason, policy, request_id, why.reset_ms, final=why.final)
    return Decision(shape, None, answer, None, explained)


def _given_up(
    shape: Shape,
    policy: CompiledPolicy,
    main: Refused,
    fell_out: tuple[Constraint, ...],
    now_ms: float,
) -> Decision:
    """No option passed: work that may wait for a later run is put off, the rest is refused."""
    explained = fell_out + tuple(
        _said(route, Reason.FALLBACK_PROHIBITED) for route in shape.cell.prohibited
    )
    if shape.cell.deferral is not None and not main.final and STEPS[main.reason] in _PUT_OFF:
        put_off = deferral(shape, policy, now_ms, main.reset_ms)
        if put_off is not None:
            return Decision(shape, None, None, put_off, explained)
    return _refused(shape, policy, main, explained)
