"""A decision as a shadow line tells it."""

from decimal import Decimal
from itertools import islice

from orchid.engine.admission.budgets import UNITS
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Decision
from orchid.engine.admission.state import AdmissionState
from orchid.engine.wire.shadow import Side

#: Options that a line names; a document may declare more.
MOST_FALLEN = 16
MOST_USED = 1e6


def side_of(decision: Decision, budget_used: float | None) -> Side:
    """What was decided, and why."""
    offer = decision.offer
    reasons = (
        (one.option.replace(" ", "-"), one.reason.value)
        for one in decision.explained
        if one.reason is not None
    )
    fell_out = dict(islice(reasons, MOST_FALLEN))
    if offer is None:
        return Side(
            action=decision.action.value,
            reason=decision.reason.value,
            budget_used=budget_used,
            fell_out=fell_out,
        )
    return Side(
        action=offer.action.value,
        reason=offer.reason.value,
        route=offer.route,
        teu=offer.teu,
        live_tokens=offer.live_tokens,
        queue_ms=offer.prediction.queue_ms,
        completion_ms=max(0.0, offer.completion_ms),
        output_tokens=offer.output_tokens,
        budget_used=budget_used,
        fell_out=fell_out,
    )


def budget_used(
    state: AdmissionState, policy: CompiledPolicy, tenant: str, now_ms: float
) -> float | None:
    """The share of the tenant's tightest budget that is used and reserved; None without any."""
    shares = [
        _used_share(getattr(account, unit), most)
        for caps in policy.caps.get(tenant, policy.general_caps)
        for account in (state.budgets.account(caps.window_ms, tenant, now_ms),)
        for unit in UNITS
        if (most := getattr(caps, unit)) is not None
    ]
    return max(shares, default=None)


def _used_share(used: int | Decimal, most: int | Decimal) -> float:
    """Atoms of TEU are beyond what a float counts by ones, and well within its range."""
    return min(float(used) / float(most), MOST_USED) if most else MOST_USED
