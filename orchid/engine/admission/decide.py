"""One decision: the questions in their order, and the first that says no gives the reason.

Feasibility comes before share and share before the queue, so no priority launches work that can't
be done in time, and a request that is refused for one thing is charged for none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from orchid.engine.admission.policy import CompiledPolicy, RoutePolicy
from orchid.engine.admission.pool import Pool
from orchid.engine.admission.refusal import refusal
from orchid.engine.admission.request import (
    Action,
    AdmissionRequest,
    Decision,
    Offer,
    Prediction,
    Reason,
    Shape,
)
from orchid.engine.admission.shape import fits_context, shape_of
from orchid.engine.admission.shares import ROOT
from orchid.engine.admission.state import AdmissionState, share_levels, usage_of
from orchid.engine.admission.timing import bounded_tokens, ends_ms, in_time, predict
from orchid.engine.timing import deadline_ms


@dataclass(frozen=True, slots=True)
class _Option:
    """A way to serve the request that is yet to be checked."""

    route: RoutePolicy
    action: Action
    reason: Reason


@dataclass(frozen=True, slots=True)
class _Refused:
    reason: Reason
    reset_ms: float | None = None
    final: bool = False  # no wait can help


def decide(
    request: AdmissionRequest, state: AdmissionState, policy: CompiledPolicy, now_ms: float
) -> Decision:
    """Admit by the first option that passes every question, or refuse for the requested route's.

    Pure: it reads `state` and moves nothing. Equal arguments give equal decisions.
    """
    shape = shape_of(request, policy)
    if isinstance(shape, Reason):
        return _unshaped(request, shape, policy)
    refused: dict[str, _Refused] = {}
    for option in _options(shape, state, policy):
        answer = _checked(option, shape, state, policy, now_ms)
        if isinstance(answer, Offer):
            return Decision(shape, answer, None, _explained(refused))
        refused.setdefault(_label(option), answer)
    main = refused[shape.route]
    return Decision(
        shape,
        None,
        refusal(main.reason, policy, request.request_id, main.reset_ms, final=main.final),
        _explained({**refused, **_prohibited(shape, policy, refused)}),
    )


def _unshaped(request: AdmissionRequest, reason: Reason, policy: CompiledPolicy) -> Decision:
    """A request that can't be measured keeps what it said of itself."""
    shape = Shape(
        request=request,
        class_known=False,
        route="",
        input_tokens=request.input_tokens or 0,
        output_tokens=request.max_output_tokens or 0,
        min_output_tokens=None,
        deadline_ms=request.deadline_ms or deadline_ms(policy.document, request.class_),
        dimensions={},
        region=request.region,
    )
    return Decision(shape, None, refusal(reason, policy, request.request_id))


def _explained(refused: dict[str, _Refused]) -> tuple[tuple[str, Reason], ...]:
    return tuple((label, answer.reason) for label, answer in refused.items())


def _label(option: _Option) -> str:
    bounded = option.action is Action.BOUND
    return f"{option.route.name} bounded" if bounded else option.route.name


def _prohibited(
    shape: Shape, policy: CompiledPolicy, tried: dict[str, _Refused]
) -> dict[str, _Refused]:
    """Routes that the document could fall back to, and doesn't allow for this segment."""
    rules = policy.document.fallback
    ladder = {rule.to for rule in rules if rule.from_ == shape.route and rule.to is not None}
    return {route: _Refused(Reason.FALLBACK_PROHIBITED) for route in sorted(ladder - tried.keys())}


def _options(shape: Shape, state: AdmissionState, policy: CompiledPolicy) -> Iterator[_Option]:
    """Step 2: each allowed way once, in the order that policy and overload prescribe."""
    allowed = policy.fallbacks(shape.route, shape.dimensions)
    compact_first = state.compact_first and policy.may_prefer_compact
    first = allowed.allowed if compact_first else (allowed.preferred,) if allowed.preferred else ()
    for name in first:
        preferred = name == allowed.preferred
        reason = Reason.FALLBACK_PREFERRED if preferred else Reason.FALLBACK_OVERLOAD
        yield _Option(policy.routes[name], Action.FALLBACK, reason)
    requested = policy.routes[shape.route]
    reason = Reason.REQUESTED if shape.class_known else Reason.CONSERVATIVE_ROUTE
    yield _Option(requested, Action.ADMIT, reason)
    yield _Option(requested, Action.BOUND, Reason.BOUNDED_BY_DEADLINE)
    for name in allowed.allowed:
        if name not in first:
            yield _Option(policy.routes[name], Action.FALLBACK, Reason.FALLBACK_NEEDED)


def _checked(
    option: _Option, shape: Shape, state: AdmissionState, policy: CompiledPolicy, now_ms: float
) -> Offer | _Refused:
    """Steps 3 to 8 for one option."""
    pool = state.pools.get(policy.pool)
    if pool is None or pool.slots < 1 or option.route.name not in pool.warm:
        return _Refused(Reason.NO_WARM_REPLICA)
    queue_ms = pool.wait_ms(now_ms, shape.request.request_id)
    output_tokens: int | None = shape.output_tokens
    if option.action is Action.BOUND:
        output_tokens = bounded_tokens(policy, option.route, shape, queue_ms, now_ms)
    if output_tokens is None:
        return _Refused(Reason.DEADLINE_INFEASIBLE)
    if not fits_context(option.route, shape, output_tokens):
        return _Refused(Reason.CONTEXT_WINDOW)
    prediction = predict(option.route, shape, output_tokens, queue_ms)
    if not in_time(policy, shape, prediction, now_ms):
        return _Refused(Reason.DEADLINE_INFEASIBLE)
    if refused := _memory(shape, output_tokens, state, policy):
        return refused
    return _limits(option, shape, output_tokens, prediction, pool, state, policy, now_ms)


def _memory(
    shape: Shape, output_tokens: int, state: AdmissionState, policy: CompiledPolicy
) -> _Refused | None:
    """Step 5: ceilings of live tokens, of the request, its tenant and the pool."""
    limits, tokens = policy.document.admission.live_tokens, shape.input_tokens + output_tokens
    if tokens > limits.per_request:
        return _Refused(Reason.MEMORY_INFEASIBLE, final=True)
    if state.live_tokens(tenant=shape.request.tenant) + tokens > limits.per_tenant:
        return _Refused(Reason.TENANT_LIVE_TOKENS)
    if state.live_tokens(pool=policy.pool) + tokens > policy.live_tokens_of_pool:
        return _Refused(Reason.MEMORY_INFEASIBLE)
    return None


def _limits(
    option: _Option,
    shape: Shape,
    output_tokens: int,
    prediction: Prediction,
    pool: Pool,
    state: AdmissionState,
    policy: CompiledPolicy,
    now_ms: float,
) -> Offer | _Refused:
    """Steps 6 to 8: the tenant's budgets, the share, the queue."""
    tenant, route = shape.request.tenant, option.route.name
    usage = usage_of(policy, route, shape.input_tokens, output_tokens)
    budgets = policy.document.budgets
    if exhausted := state.budgets.exhausted(budgets, tenant, usage, now_ms):
        return _Refused(Reason.BUDGET_EXHAUSTED, exhausted[1])
    request_id, teu = shape.request.request_id, usage["teu"]
    wait = pool.in_flight >= policy.knee or not pool.next_in_queue(request_id)
    path = policy.shares.path(share_levels(shape, route, pool.name))
    lender = state.buckets(policy).lender(path, now_ms, room=not wait) if path else ROOT
    if lender is None:
        return _Refused(Reason.SHARE_EXHAUSTED)
    room = policy.document.admission.max_queued_teu
    if wait and pool.queued_teu(before=request_id) + teu > room:
        return _Refused(Reason.QUEUE_FULL if room else Reason.CONCURRENCY)
    return Offer(
        action=option.action,
        reason=option.reason,
        route=route,
        pool=pool.name,
        output_tokens=output_tokens,
        teu=teu,
        live_tokens=shape.input_tokens + output_tokens,
        prediction=prediction,
        completion_ms=ends_ms(prediction, now_ms) - shape.request.arrived_ms,
        lender=lender,
        wait=wait,
    )
