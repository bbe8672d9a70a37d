"""What a refused client is told: may it come back, when, and whose limit it met."""

import hashlib
from dataclasses import dataclass

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Reason, Refusal


@dataclass(frozen=True, slots=True)
class _Rule:
    status: int
    retryable: bool
    budget: str | None


_RULES = {
    Reason.UNKNOWN_CLASS: _Rule(422, False, None),
    Reason.CONTEXT_WINDOW: _Rule(422, False, None),
    Reason.MEMORY_INFEASIBLE: _Rule(503, True, "live_tokens"),
    Reason.DEADLINE_INFEASIBLE: _Rule(503, False, None),
    Reason.NO_WARM_REPLICA: _Rule(503, True, None),
    Reason.TENANT_LIVE_TOKENS: _Rule(429, True, "tenant_live_tokens"),
    Reason.BUDGET_EXHAUSTED: _Rule(429, False, "tenant_budget"),
    Reason.SHARE_EXHAUSTED: _Rule(503, True, "share"),
    Reason.QUEUE_FULL: _Rule(503, True, "queued_teu"),
    Reason.CONCURRENCY: _Rule(503, True, "concurrency"),
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
    retryable = rule.retryable and not final
    low, high = policy.document.admission.retry.after_ms
    after_ms = low + round(_spread(request_id) * (high - low)) if retryable else None
    if reset_ms is not None:
        after_ms = round(reset_ms)
    return Refusal(reason, retryable, after_ms, rule.budget, rule.status)


def _spread(request_id: str) -> float:
    """A number in [0, 1) that is even over request ids."""
    return int.from_bytes(hashlib.sha256(request_id.encode()).digest()[:7]) / 2**56
