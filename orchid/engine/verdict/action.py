"""What happens now: the policy's answer to a verdict. One definition, stored, shown and acted on.

Harm may stop a stage early, at any moment. Going on takes a pass on valid evidence that covers the
whole hold; neither a clock nor a default nor an empty set of gates ever does. Where the evidence
can't be trusted, or nothing is being rolled out, everything stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from orchid.engine.verdict.case import Subject
from orchid.engine.verdict.result import Verdict
from orchid.engine.verdict.validity import Check, State, worst


class Action(StrEnum):
    """What is done with the exposure of a generation."""

    HOLD = "hold"
    ADVANCE = "advance"
    PAUSE = "pause"
    ROLL_BACK = "roll_back"


#: What harm brings about.
STOPS = (Action.PAUSE, Action.ROLL_BACK)


@dataclass(frozen=True, slots=True)
class Decided:
    """The action and in words why."""

    action: Action
    why: str


def decide(
    subject: Subject,
    end: datetime,
    verdict: Verdict,
    checks: Sequence[Check],
    on_breach: Literal["rollback", "pause"],
    failed: str = "a gate failed",
) -> Decided:
    """The action for a verdict that the checks have left standing; `failed` says what a fail is."""
    if not subject.is_stage:
        return Decided(Action.HOLD, "no rollout is open: what is live changes by a person's move")
    if worst(checks) is State.BROKEN:
        return Decided(Action.HOLD, "whose figures these are is not certain, so nothing moves")
    if verdict is Verdict.FAIL:
        action = Action.ROLL_BACK if on_breach == "rollback" else Action.PAUSE
        return Decided(action, f"{failed} and the policy says {on_breach}")
    if subject.hold_until is None:
        said = "too few edges run the stage for its hold to begin, so only harm is looked for"
        return Decided(Action.HOLD, said)
    if verdict is not Verdict.PASS:
        said = verdict.value.replace("_", " ")
        return Decided(Action.HOLD, f"{said}: only a pass on enough valid data goes on")
    return _go_on(subject.hold_until, end)


def _go_on(hold_until: datetime, end: datetime) -> Decided:
    if end < hold_until:
        until = f"{hold_until:%Y-%m-%d %H:%M:%S} UTC"
        return Decided(Action.HOLD, f"records do not cover the hold yet, which ends at {until}")
    return Decided(Action.ADVANCE, "every gate passed on the whole hold")
