"""How many requests one replica may have in flight.

`static_knee` is constant. `queue_wait_aimd` follows the wait in the replica's queue: over the
target the limit falls by a share, within it it rises by steps, between a floor and a ceiling. It
sees no latency and no utilisation: a longer answer is no reason to let fewer in, and a limit that
believes so locks itself. A floor at or over baseline demand is what keeps it from starving.
"""

import math
from typing import Literal

import msgspec

from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.document.model import PolicyDocument

# A changed limit shows in the wait only after what was let in before has gone through.
SHORTEST_STEP_MS = 100.0


class LimitRules(msgspec.Struct, frozen=True, gc=False):
    """The bounds of a document's `admission.concurrency`, in requests of one replica."""

    mode: Literal["static_knee", "queue_wait_aimd"]
    start: int
    floor: int
    ceiling: int
    target_wait_ms: float
    decrease: float
    increase: float

    @property
    def step_ms(self) -> float:
        """The limit moves at most once in this time."""
        return max(SHORTEST_STEP_MS, self.target_wait_ms)


def limit_rules(document: PolicyDocument, part: Slice = WHOLE) -> LimitRules:
    declared = document.admission.concurrency
    return LimitRules(
        mode=declared.mode,
        start=part.places(declared.per_replica),
        floor=part.places(min(declared.floor or 1, declared.per_replica)),
        ceiling=part.places(max(declared.ceiling or declared.per_replica, declared.per_replica)),
        target_wait_ms=float(declared.target_wait_ms),
        decrease=declared.decrease,
        increase=declared.increase,
    )


def constant(limit: int) -> LimitRules:
    """The rules of a limit that stays where it is."""
    return LimitRules("static_knee", limit, limit, limit, 0.0, 1.0, 0.0)


class Limiter(msgspec.Struct, gc=False):
    """One replica's limit. `exact` carries what whole requests can't."""

    limit: int
    exact: float
    moved_ms: float = -math.inf

    def adapt(self, queue_wait_ms: float, rules: LimitRules, now_ms: float) -> None:
        """One look at the wait; nothing where the limit is static or has just been moved."""
        if rules.mode == "static_knee" or 0.0 <= now_ms - self.moved_ms < rules.step_ms:
            return
        over = queue_wait_ms > rules.target_wait_ms
        wanted = self.exact * rules.decrease if over else self.exact + rules.increase
        self.exact = min(max(wanted, float(rules.floor)), float(rules.ceiling))
        self.limit, self.moved_ms = int(self.exact), now_ms


def limiter_of(rules: LimitRules) -> Limiter:
    """A limit at the knee, where both modes start."""
    return Limiter(rules.start, float(rules.start))
