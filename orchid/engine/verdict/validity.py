"""Whether a window's evidence may carry a verdict at all.

Missing completeness only holds: it keeps a pass from counting and never hides harm. Broken
attribution (a wrong split) holds everything. Traffic that stopped is first a hold, and past its
deadline no data: the last good figure is not carried forward.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from orchid.engine.verdict.exposure import Split
from orchid.engine.verdict.result import Verdict


class State(StrEnum):
    """What a check does to the verdict."""

    OK = "ok"
    HOLD = "hold"
    BROKEN = "broken"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of valid evidence, in words that name the count or the moment that is off."""

    name: str
    state: State
    message: str


@dataclass(frozen=True, slots=True)
class Clock:
    """Moments of a window: now, how far records are counted, when it opened, its last request.

    `silent` names edges that sent records for the window and have stopped telling anything,
    `uncounted` says in words what else may be missing from its figures.
    """

    now: datetime
    watermark: datetime | None
    opens_at: datetime
    judged_to: datetime
    last_request_at: datetime | None
    closed: bool
    silent: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long figures may lag or traffic may pause before a hold, and before there is no data."""

    hold_after: timedelta
    expires_after: timedelta


def limits_for(step_s: int, window_ms: int) -> Limits:
    """Three steps, at least half a minute, hold; the attainment gate's window is the deadline."""
    hold = max(timedelta(seconds=3 * step_s), timedelta(seconds=30))
    return Limits(hold, max(hold, timedelta(milliseconds=window_ms)))


def check_all(clock: Clock, limits: Limits, split: Split | None) -> list[Check]:
    """Every check of a window; a closed one can no longer lag or fall silent, only lack records."""
    checks = [_opened(clock), _completeness(clock)]
    if not clock.closed:
        checks += [_watermark(clock, limits), _traffic(clock, limits)]
    if split is not None:
        state = State.OK if split.holds else State.BROKEN
        checks.append(Check("split", state, split.message))
    return checks


def apply(verdict: Verdict, checks: Sequence[Check]) -> Verdict:
    """The verdict that the checks leave standing."""
    states = {check.state for check in checks}
    if State.EXPIRED in states:
        return Verdict.NO_DATA
    if State.BROKEN in states and verdict is not Verdict.NO_DATA:
        return Verdict.INCONCLUSIVE
    if State.HOLD in states and verdict is Verdict.PASS:
        return Verdict.INCONCLUSIVE
    return verdict


def worst(checks: Sequence[Check]) -> State:
    """The gravest state among the checks; OK without any."""
    order = (State.EXPIRED, State.BROKEN, State.HOLD)
    return next((s for s in order if any(c.state is s for c in checks)), State.OK)


def _opened(clock: Clock) -> Check:
    if clock.judged_to <= clock.opens_at:
        return Check(
            "window", State.HOLD, f"opened at {_time(clock.opens_at)}, nothing counted yet"
        )
    return Check("window", State.OK, f"from {_time(clock.opens_at)} to {_time(clock.judged_to)}")


def _watermark(clock: Clock, limits: Limits) -> Check:
    if clock.watermark is None:
        said = "no gateway population: no live edge says how far its records are counted"
        return Check("watermark", State.HOLD, said)
    behind = clock.now - clock.watermark
    said = f"records are counted up to {_time(clock.watermark)}"
    if behind > limits.hold_after:
        return Check("watermark", State.HOLD, f"{said}, {behind.total_seconds():,.0f} s ago")
    return Check("watermark", State.OK, said)


def _completeness(clock: Clock) -> Check:
    """What is in no figure may be what is bad: nothing may pass without it."""
    lacking = list(clock.uncounted)
    if clock.silent and not clock.closed:
        lacking.insert(0, f"silent, so its requests are missing: {', '.join(clock.silent)}")
    if lacking:
        return Check("completeness", State.HOLD, "; ".join(lacking))
    said = "all that was sent is counted" if clock.closed else "every edge of the window reports"
    return Check("completeness", State.OK, said)


def _traffic(clock: Clock, limits: Limits) -> Check:
    since = clock.last_request_at or clock.opens_at
    until = clock.now if clock.watermark is None else clock.watermark
    silent = until - since
    said = f"no eligible request since {_time(since)}"
    if silent > limits.expires_after:
        return Check("traffic", State.EXPIRED, f"{said}: past the deadline, no data")
    if silent > limits.hold_after:
        return Check("traffic", State.HOLD, said)
    return Check("traffic", State.OK, f"last eligible request at {_time(since)}")


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
