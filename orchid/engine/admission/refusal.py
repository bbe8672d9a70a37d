"""What a refused client is told: may it come back, when, and whose limit it met."""

import math
from zlib import crc32

import msgspec

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Deferral, Reason, Refusal, Shape


class _Rule(msgspec.Struct, frozen=True):
    status: int
    retryable: bool
    budget: str | None = None


_SCOPES = {422: "request", 429: "tenant", 503: "fleet"}
_RULES = {
    Reason.UNKNOWN_CLASS: _Rule(422, False),
    Reason.SHAPE_OVER_LIMIT: _Rule(422, False),
    Reason.CONTEXT_WINDOW: _Rule(422, False),
    Reason.CELL_UNCALIBRATED: _Rule(503, False),
    Reason.MANIFEST_INCOMPATIBLE: _Rule(503, True),
    Reason.NO_WARM_REPLICA: _Rule(503, True),
    Reason.PRIVACY_CELL: _Rule(503, False),
    Reason.BREAKER_OPEN: _Rule(503, True, "breaker"),
    Reason.SIGNALS_STALE: _Rule(503, True, "signals"),
    Reason.DEADLINE_INFEASIBLE: _Rule(503, False),
    Reason.MEMORY_INFEASIBLE: _Rule(503, True, "live_tokens"),
    Reason.TENANT_LIVE_TOKENS: _Rule(429, True, "tenant_live_tokens"),
    Reason.BUDGET_EXHAUSTED: _Rule(429, False, "tenant_budget"),
    Reason.RETRY_BUDGET: _Rule(503, False, "retry"),
    Reason.SHARE_EXHAUSTED: _Rule(503, True, "share"),
    Reason.QUEUE_FULL: _Rule(503, True, "queued_teu"),
    Reason.CONCURRENCY: _Rule(503, True, "concurrency"),
    Reason.OVERLOAD: _Rule(503, True, "overload"),
}


def refusal(
    reason: Reason,
    policy: CompiledPolicy,
    request_id: str,
    reset_ms: float | None = None,
    *,
    final: bool = False,
) -> Refusal:
    """The refusal with its wait: the reset of a budget, else a jittered wait from the policy.

    The jitter follows from the request id, so that one request always gets one answer.
    """
    rule = _RULES[reason]
    retryable, after_ms = rule.retryable and not final, None
    if reset_ms is not None and math.isfinite(reset_ms):
        after_ms = round(reset_ms)
    elif retryable:
        after_ms = policy.after_ms[0] + _jitter_ms(request_id, policy)
    return Refusal(reason, retryable, after_ms, rule.budget, rule.status, _SCOPES[rule.status])


def deferral(
    shape: Shape, policy: CompiledPolicy, now_ms: float, reset_ms: float | None = None
) -> Deferral | None:
    """When asynchronous work comes back; None when it has no time left to be put off.

    The last moment leaves its own service and the post-model reserve before its deadline.
    """
    allowed, request = shape.cell.deferral, shape.request
    if allowed is None:
        return None
    arrived = request.first_arrived_ms
    first_ms = request.arrived_ms if arrived is None else arrived
    service_ms = shape.cell.options[0].service_ms(shape.input_tokens, shape.output_tokens)
    latest_ms = first_ms + allowed.deadline_ms - service_ms - policy.reserve_ms
    until_ms = min(latest_ms, first_ms + allowed.max_queue_age_ms)
    after_ms = max(allowed.after_ms, math.ceil(reset_ms or 0.0))
    after_ms += _jitter_ms(request.request_id, policy)
    if now_ms + after_ms > until_ms:
        return None
    return Deferral(request.continues or request.request_id, after_ms, until_ms)


def _jitter_ms(request_id: str, policy: CompiledPolicy) -> int:
    """Evenly spread over the difference of the policy's two waits."""
    low, high = policy.after_ms
    return crc32(request_id.encode()) * (high - low) >> 32
