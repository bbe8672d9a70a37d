"""The request record of this edge: begun at the decision, and moved by what becomes of it.

A request has one record, however many attempts it takes. Between two of them the record says what
it is if nobody asks again: the outcome of the last.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from orchid.edge.active import Cohort
from orchid.edge.ask import Admit, Settle, SettledAs
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Decision
from orchid.engine.early_stop import early_stop_of
from orchid.engine.segments import LOAD_STATE, is_eligible
from orchid.engine.wire.fields import Outcome
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord

INELIGIBLE = "outside_the_contract"


def begun(
    ask: Admit,
    decision: Decision,
    policy: CompiledPolicy,
    *,
    edge: str,
    publication: int,
    cohort: Cohort,
    admission_ms: float,
    load_state: str,
) -> RequestRecord:
    """A refused or deferred request's whole record, or an admitted one's if nobody settles it."""
    shape = decision.shape
    eligible = is_eligible(policy.document, shape.dimensions)
    return RequestRecord(
        schema="orchid.request/v1",
        request_id=ask.request_id,
        product=policy.document.product,
        edge=edge,
        publication=publication,
        digest=policy.digest,
        cohort=cohort,
        tenant=ask.tenant,
        tenant_class=ask.tenant_class or shape.dimensions.get("tenant_class"),
        region=ask.region,
        privacy_cell=ask.privacy_cell,
        session=ask.session,
        continues=ask.continues,
        class_=ask.class_,
        segment=_segment(shape.dimensions, policy, load_state),
        arrived_at=datetime.fromtimestamp(shape.request.arrived_ms / 1000.0, UTC),
        deadline_ms=shape.deadline_ms,
        admission_ms=admission_ms,
        eligible=eligible,
        ineligible_reason=None if eligible else INELIGIBLE,
        input_tokens=decision.offer.input_tokens if decision.offer else shape.input_tokens,
        cached_input_tokens=ask.cached_input_tokens or None,
        max_output_tokens=shape.output_tokens,
        decision=_decision(decision),
        load_state=load_state,
        outcome=_outcome(decision),
        released=None if decision.offer is None else False,
    )


def _segment(
    dimensions: Mapping[str, str], policy: CompiledPolicy, load_state: str
) -> dict[str, str]:
    """The request's dimensions, the overload rung among them where the document names it as one.

    Nothing was decided by it: a rule that selected by load would change what it selects by.
    """
    if LOAD_STATE not in policy.document.segments.dimensions:
        return dict(dimensions)
    return {**dimensions, LOAD_STATE: load_state}


def _outcome(decision: Decision) -> Outcome:
    """What the request is if nothing else is heard of it."""
    if decision.offer is not None:
        return "lost"
    return "rejected" if decision.deferral is None else "deferred"


def unpublished(ask: Admit, *, product: str, edge: str, arrived_ms: float) -> RequestRecord:
    """A request that came before any generation was there to decide it by."""
    return RequestRecord(
        schema="orchid.request/v1",
        request_id=ask.request_id,
        product=product,
        edge=edge,
        tenant=ask.tenant,
        class_=ask.class_,
        arrived_at=datetime.fromtimestamp(arrived_ms / 1000.0, UTC),
        decision=DecisionRecord(action="reject", reason="no_bundle"),
        outcome="rejected",
    )


def with_attempt(
    record: RequestRecord, attempt_id: str, decision: Decision, policy: CompiledPolicy, at_ms: float
) -> RequestRecord:
    """The record with one more attempt, begun `at_ms` after arrival; it is all there is to tell.

    What an earlier attempt ended with is its own and no more the request's.
    """
    offer = decision.offer
    assert offer is not None
    attempt = AttemptRecord(
        attempt_id=attempt_id,
        route=offer.route,
        pool=offer.pool if offer.replica else None,
        replica=offer.replica or None,
        model=offer.route,
        manifest=policy.routes[offer.route].manifest or None,
        status="lost",
        start_ms=at_ms,
        external_calls=decision.shape.request.external_calls or None,
        teu_predicted=offer.teu,
        teu_prefill_predicted=offer.factor * offer.input_weight * offer.input_tokens,
        teu_decode_predicted=offer.factor * offer.output_tokens,
    )
    return replace(
        record,
        decision=_decision(decision),
        input_tokens=offer.input_tokens,
        outcome="lost",
        released=False,
        attempts=(*record.attempts, attempt),
        **_NOT_SERVED,
    )


CAP_CROSSED = "cap_crossed"

_NOT_SERVED: dict[str, Any] = dict.fromkeys(
    (
        "output_tokens",
        "first_token_ms",
        "max_gap_ms",
        "completion_ms",
        "policy_valid",
        "schema_valid",
        "stop_reason",
    )
)


def finished(
    record: RequestRecord, settle: Settle, policy: CompiledPolicy | None, ended_ms: float
) -> RequestRecord:
    """The record whose last attempt its client has settled, `ended_ms` after arrival."""
    attempt, status = record.attempts[-1], _status(record, settle, policy)
    stopped = CAP_CROSSED if _crossed_cap(record, settle) else settle.finish_reason
    ended = replace(
        attempt,
        status=status,
        stop_reason=stopped,
        interrupted_after_tokens=settle.interrupted_after_tokens,
        accelerator_ms=settle.accelerator_ms,
        useful_tokens=settle.output_tokens,
        released_ms=ended_ms,
        live_token_ms=_held_token_ms(record, attempt, ended_ms),
        **_observed(record, attempt, settle, policy),
    )
    confidence = settle.scorer_confidence  # an attempt without a scorer leaves that of the last
    return replace(
        _with_last(record, ended),
        outcome=status,
        released=True,
        output_tokens=settle.output_tokens,
        first_token_ms=settle.first_token_ms,
        max_gap_ms=settle.max_gap_ms,
        completion_ms=settle.completion_ms,
        policy_valid=settle.policy_valid,
        schema_valid=settle.schema_valid,
        stop_reason=stopped,
        scorer_confidence=record.scorer_confidence if confidence is None else confidence,
    )


def _status(record: RequestRecord, settle: Settle, policy: CompiledPolicy | None) -> SettledAs:
    """What the ending counts as: a cut that nobody declared and evidenced is no early stop."""
    if _is_bounded(record, settle):
        return "bounded"
    if settle.status != "early_terminated":
        return settle.status
    route = record.attempts[-1].route
    allowed = (
        policy is not None
        and route is not None
        and early_stop_of(policy.document, route, record.segment) is not None
    )
    return "early_terminated" if allowed else "truncated"


def _crossed_cap(record: RequestRecord, settle: Settle) -> bool:
    """More output than admission reserved: what came after is a continuation nobody admitted."""
    decided = record.decision
    if decided is None or decided.output_tokens is None or settle.output_tokens is None:
        return False
    return settle.output_tokens > decided.output_tokens


def _observed(
    record: RequestRecord, attempt: AttemptRecord, settle: Settle, policy: CompiledPolicy | None
) -> dict[str, Decimal]:
    """TEU of what was really used, by phase; unknown without a policy or without the tokens."""
    used = record.input_tokens, settle.output_tokens
    if policy is None or attempt.route is None or used[0] is None or used[1] is None:
        return {}
    route = policy.routes[attempt.route]
    prefill, decode = policy.teu(route, used[0], 0), policy.teu(route, 0, used[1])
    return {
        "teu_observed": prefill + decode,
        "teu_prefill_observed": prefill,
        "teu_decode_observed": decode,
    }


def _held_token_ms(record: RequestRecord, attempt: AttemptRecord, ended_ms: float) -> float | None:
    """The live tokens that were reserved for the attempt, for as long as it held them."""
    live = None if record.decision is None else record.decision.live_tokens
    if live is None or attempt.start_ms is None:
        return None
    return live * max(0.0, ended_ms - attempt.start_ms)


def not_continued(record: RequestRecord, decision: Decision) -> RequestRecord:
    """The record of a request whose next attempt was not admitted: what its last one made it."""
    if decision.deferral is None:
        return record
    return replace(record, decision=_decision(decision), outcome="deferred")


def cancelled(record: RequestRecord, ended_ms: float) -> RequestRecord:
    """The record of a request that was given up before its attempt was dispatched."""
    attempt = replace(record.attempts[-1], status="cancelled", cancel_requested_ms=ended_ms)
    return replace(_with_last(record, attempt), outcome="cancelled", released=True)


def cancel_asked(record: RequestRecord, asked_ms: float) -> RequestRecord:
    """The record remembers when its client gave up; the attempt still holds its state."""
    return _with_last(record, replace(record.attempts[-1], cancel_requested_ms=asked_ms))


def _with_last(record: RequestRecord, attempt: AttemptRecord) -> RequestRecord:
    return replace(record, attempts=(*record.attempts[:-1], attempt))


def _is_bounded(record: RequestRecord, settle: Settle) -> bool:
    """An output that was admitted with a bound and ran up to it is bounded, not complete."""
    decided = record.decision
    if decided is None or decided.action != "bound" or decided.output_tokens is None:
        return False
    return settle.status == "completed" and (settle.output_tokens or 0) >= decided.output_tokens


def _decision(decision: Decision) -> DecisionRecord:
    offer = decision.offer
    if offer is None:
        route = decision.shape.route or None
        return DecisionRecord(action=decision.action.value, route=route, reason=decision.reason)
    return DecisionRecord(
        action=offer.action.value,
        route=offer.route,
        reason=offer.reason,
        teu=offer.teu,
        live_tokens=offer.live_tokens,
        queue_ms=offer.prediction.queue_ms,
        prefill_ms=offer.prediction.prefill_ms,
        decode_ms=offer.prediction.decode_ms,
        completion_ms=offer.completion_ms,
        output_tokens=offer.output_tokens,
        signal_age_ms=offer.signal_age_ms,
    )
