"""What a replica tells of itself, and how far it may be believed by its age.

Fresh: used as it is. Held (past one refresh, within the hold bound): used with a penalty. Stale:
only our own counts and the static cap decide. None: the safe floor. A replica that is stale or
never spoke is neither idle nor busy: it is unknown, and ranks behind those that are known.
"""

from typing import Literal

import msgspec

from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.document.model import PolicyDocument

SignalStanding = Literal["fresh", "held", "stale", "none", "unused"]


class Signal(msgspec.Struct, frozen=True, gc=False):
    """One report: when it was measured, the wait in the replica's queue, the tokens it holds."""

    at_ms: float
    queue_wait_ms: float | None = None
    live_tokens: int | None = None


class SignalRules(msgspec.Struct, frozen=True, gc=False):
    """The bounds of a document's `admission.signals`."""

    fresh_ms: float
    hold_ms: float
    penalty_ms: float
    floor_per_replica: int


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A signal as it counts now. `wait_ms` is 0 where the signal says nothing that is believed."""

    standing: SignalStanding
    wait_ms: float
    age_ms: float | None
    rank: int  # 0 known, 1 held, 2 unknown


UNUSED = Reading("unused", 0.0, None, 0)
NONE = Reading("none", 0.0, None, 2)


def signal_rules(document: PolicyDocument, part: Slice = WHOLE) -> SignalRules | None:
    """None where the document uses no signals: own counts alone decide."""
    declared = document.admission.signals
    if declared is None:
        return None
    return SignalRules(
        float(declared.fresh_ms),
        float(declared.hold_ms),
        float(declared.penalty_ms),
        part.places(declared.floor_per_replica),
    )


def read_signal(signal: Signal | None, rules: SignalRules | None, now_ms: float) -> Reading:
    """How the signal counts at `now_ms`. One from a clock far ahead of ours is not believed."""
    if rules is None:
        return UNUSED
    if signal is None:
        return NONE
    age_ms = now_ms - signal.at_ms
    if age_ms > rules.hold_ms or age_ms < -rules.fresh_ms:
        return Reading("stale", 0.0, max(age_ms, 0.0), 2)
    wait_ms = signal.queue_wait_ms or 0.0
    if age_ms <= rules.fresh_ms:
        return Reading("fresh", wait_ms, max(age_ms, 0.0), 0)
    return Reading("held", wait_ms + rules.penalty_ms, age_ms, 1)


def limit_under(
    standing: SignalStanding, limit: int, static_limit: int, rules: SignalRules | None
) -> int:
    """Requests that one replica may have in flight: adapted, static or the safe floor."""
    if standing == "none" and rules is not None:
        return min(static_limit, rules.floor_per_replica)
    return static_limit if standing == "stale" else limit
