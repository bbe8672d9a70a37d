"""When compact goes first for eligible segments: a rung with its own way in and way out.

It is entered on queue wait or queued work, never on utilisation or on total latency, and left only
after both have been small for a while, so that it doesn't flap.
"""

from dataclasses import dataclass

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Pool

ENTER_WAIT, LEAVE_WAIT = 0.25, 0.05  # of the contract's deadline
ENTER_QUEUED, LEAVE_QUEUED = 0.5, 0.1  # of the queue's room
CALM_MS = 2000.0


@dataclass(frozen=True, slots=True)
class Overload:
    """Whether the rung is in force, and since when its way out has been open."""

    compact_first: bool = False
    calm_since_ms: float | None = None


def observe(before: Overload, pool: Pool, policy: CompiledPolicy, now_ms: float) -> Overload:
    """The rung after one look at a pool; pure."""
    deadline = policy.document.contract.deadline_ms
    room = float(policy.document.admission.max_queued_teu) or 1.0
    wait, queued = pool.wait_ms(now_ms) / deadline, float(pool.queued_teu()) / room
    if not policy.may_prefer_compact:
        return Overload()
    if wait >= ENTER_WAIT or queued >= ENTER_QUEUED:
        return Overload(compact_first=True)
    if not before.compact_first:
        return Overload()
    if wait > LEAVE_WAIT or queued > LEAVE_QUEUED:
        return Overload(compact_first=True)
    since = before.calm_since_ms if before.calm_since_ms is not None else now_ms
    return Overload() if now_ms - since >= CALM_MS else Overload(True, since)
