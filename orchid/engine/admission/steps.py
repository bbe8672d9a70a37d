"""Steps 3 to 8 of a decision, put to one option: place, time, memory, budgets, share, queue."""

import math

import msgspec

from orchid.engine.admission.bounding import bounded_tokens
from orchid.engine.admission.budgets import Usage
from orchid.engine.admission.cell import Option
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.place import ceiling_of, place
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Pool
from orchid.engine.admission.request import Action, Offer, Prediction, Reason, Shape
from orchid.engine.admission.shape import output_allowed, trimmed
from orchid.engine.admission.shares import ROOT
from orchid.engine.admission.state import AdmissionState


class Refused(msgspec.Struct, frozen=True, gc=False):
    """Why an option fell out, and when its limit is reset; `final`: no wait can help."""

    reason: Reason
    reset_ms: float | None = None
    final: bool = False


def tried(
    option: Option,
    shape: Shape,
    state: AdmissionState,
    policy: CompiledPolicy,
    ladder: Ladder,
    now_ms: float,
) -> Offer | Refused:
    """Steps 3 to 8 for one option, each in its place: the whole order on one screen."""
    if option.refused is not None:
        return Refused(option.refused, final=True)
    if option.modelless:
        return _sources(option, shape, policy, now_ms)
    request, cell, tenant = shape.request, shape.cell, shape.request.tenant
    action, reason = option.action, option.reason
    input_tokens, output_tokens = shape.input_tokens, shape.output_tokens
    if cell.reserves or (ladder.rung and cell.limits_output):
        output_tokens, capped = output_allowed(shape, ladder)
        if capped and not option.bounded:
            action, reason = Action.BOUND, Reason.OUTPUT_CAPPED
    live_tokens = input_tokens + output_tokens
    if live_tokens > option.window_tokens and not option.bounded:
        input_tokens = trimmed(option, output_tokens)
        if not input_tokens:
            return Refused(Reason.CONTEXT_WINDOW)
        live_tokens = option.window_tokens

    cached = request.cached_input_tokens
    prefill_ms = (input_tokens - cached if cached < input_tokens else 0) * option.prefill_ms
    decode_ms = output_tokens * option.decode_ms
    service_ms = option.fixed_ms + prefill_ms + decode_ms
    due_ms = request.arrived_ms + shape.deadline_ms

    # 3 place
    pool = state.pools.get(policy.pool)
    if pool is None:
        return Refused(Reason.NO_WARM_REPLICA)
    spare_ms = due_ms - policy.reserve_ms - service_ms - now_ms
    placed = place(option, request, live_tokens, spare_ms, pool, policy, now_ms)
    if not isinstance(placed, tuple):
        return Refused(placed)
    replica, queue_ms, wait, full, reading = placed

    # 4 time
    if option.bounded:
        fitting = bounded_tokens(policy, option, shape, output_tokens, queue_ms, now_ms)
        if fitting is None:
            return Refused(Reason.DEADLINE_INFEASIBLE)
        output_tokens, live_tokens = fitting, input_tokens + fitting
        if live_tokens > option.window_tokens:
            return Refused(Reason.CONTEXT_WINDOW)
        decode_ms = output_tokens * option.decode_ms
        service_ms = option.fixed_ms + prefill_ms + decode_ms
        full = replica.live_tokens + live_tokens > ceiling_of(replica, policy)
    ends_ms = now_ms + queue_ms + service_ms
    if ends_ms + policy.reserve_ms > due_ms and not option.bounded:
        return Refused(Reason.DEADLINE_INFEASIBLE)

    # 5 memory
    if live_tokens > policy.live_tokens_of_request:
        return Refused(Reason.MEMORY_INFEASIBLE, final=True)
    if state.tenants.get(tenant, 0) + live_tokens > policy.live_tokens_of_tenant:
        return Refused(Reason.TENANT_LIVE_TOKENS)
    if (
        full
        or pool.live_tokens + live_tokens > policy.live_tokens_of_pool
        or (option.ceilings and is_route_full(option, live_tokens, pool))
    ):
        return Refused(Reason.MEMORY_INFEASIBLE)

    # 6 budgets
    charge = option.charge * (policy.input_charge * input_tokens + output_tokens)
    usage, caps = None, policy.caps.get(tenant, policy.general_caps)
    if caps:
        usage = Usage(
            option.input_atoms * input_tokens + option.output_atoms * output_tokens,
            option.served.usd(input_tokens, output_tokens),
            output_tokens,
            round(live_tokens * (queue_ms + service_ms)),
            request.external_calls,
        )
        reset_ms = state.budgets.exhausted(caps, tenant, usage, now_ms)
        if reset_ms is not None:
            return Refused(Reason.BUDGET_EXHAUSTED, reset_ms)
    if request.attempt > 1:
        attempt, retries = request.attempt, state.retries
        reset_ms = retries.exhausted(attempt, charge, live_tokens, policy.retry, now_ms)
        if reset_ms is not None:
            return Refused(Reason.RETRY_BUDGET, reset_ms, final=reset_ms == math.inf)

    # 7 share
    lends = ROOT
    if option.path:
        buckets = state.shares.get(policy.digest) or state.buckets(policy)
        lender = buckets.lender(option.path, now_ms, room=not wait)
        if lender is None:
            return Refused(Reason.SHARE_EXHAUSTED)
        lends = lender

    # 8 queue
    if wait:
        if ladder.refuses_waiting or (ladder.rung and not cell.claims):
            return Refused(Reason.OVERLOAD)
        if pool.teu_ahead(option.route, request.request_id) + charge > policy.max_queued_teu:
            return Refused(Reason.QUEUE_FULL if policy.max_queued_teu else Reason.CONCURRENCY)

    if option.timed:
        prediction = Prediction(queue_ms, prefill_ms, decode_ms, service_ms)
    else:
        prediction = Prediction(queue_ms, None, None, None)
    return Offer(
        action,
        reason,
        option.route,
        pool.name,
        replica.name,
        input_tokens,
        output_tokens,
        option.factor,
        policy.input_weight,
        charge,
        usage,
        live_tokens,
        prediction,
        ends_ms - request.arrived_ms,
        option.path,
        lends,
        wait,
        reading.standing,
        reading.age_ms,
        option.early_stop,
    )


def is_route_full(option: Option, live_tokens: int, pool: Pool) -> bool:
    """Whether the route's own ceilings of sequences and live tokens leave no room."""
    held, served = pool.held.get(option.route), option.served
    tokens, sequences = (held.live_tokens, held.sequences) if held else (0, 0)
    return (
        served.max_live_tokens is not None and tokens + live_tokens > served.max_live_tokens
    ) or (served.max_sequences is not None and sequences >= served.max_sequences)


def _sources(
    option: Option, shape: Shape, policy: CompiledPolicy, now_ms: float
) -> Offer | Refused:
    """An answer without a model: nothing is held, priced or waited for."""
    if now_ms + policy.reserve_ms > shape.due_ms:
        return Refused(Reason.DEADLINE_INFEASIBLE)
    return Offer(
        action=option.action,
        reason=option.reason,
        route=option.route,
        pool=policy.pool,
        replica="",
        input_tokens=0,
        output_tokens=0,
        factor=option.factor,
        input_weight=policy.input_weight,
        charge=0.0,
        usage=None,
        live_tokens=0,
        prediction=Prediction(0.0, None, None, None),
        completion_ms=now_ms - shape.request.arrived_ms,
        path=(),
        lender=ROOT,
        wait=False,
    )
