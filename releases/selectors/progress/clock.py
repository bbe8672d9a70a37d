"""Whether it runs at all, whether the edges run it, and whether it was watched for long enough."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from controlplane import figures
from orchid.engine.document.operation import Stage
from orchid.engine.document.values import duration_words
from releases.selectors.progress.condition import Condition, Stand
from releases.states import RolloutState


def standing(stand: Stand) -> Iterator[Condition]:
    """What holds for every segment alike."""
    yield _running(stand)
    yield _acknowledged(stand)


def _running(stand: Stand) -> Condition:
    label = stand.rollout.status.label.lower()
    met = stand.rollout.state == RolloutState.RUNNING
    return Condition("running", met, f"The rollout is {label}.", label, "running")


def _acknowledged(stand: Stand) -> Condition:
    found = stand.acknowledged
    asked = figures.share(found.required, 0)
    numbers = figures.share(found.share, 0, found.required), f"{asked} of the traffic"
    if found.reached_at is not None:
        return Condition("edges", True, "The edges run it.", *numbers)
    names = ", ".join(f"{edge.name} ({edge.standing})" for edge in found.missing)
    said = f"Not every edge runs it: {names}." if names else "No edge is registered."
    return Condition("edges", False, said, *numbers)


def hold_until(stand: Stand, stage: Stage) -> datetime | None:
    """When a stage will have been watched for long enough; None before its clock runs."""
    if stand.opened_at is None:
        return None
    held_ms = stand.document.rollout.hold_of(stage) or 0
    return stand.opened_at + timedelta(milliseconds=held_ms)


def hold(stand: Stand, stage: Stage) -> Condition:
    """The stage's time, which cache cycles may make longer."""
    until = hold_until(stand, stage)
    asked_ms = stand.document.rollout.hold_of(stage) or 0
    asked = duration_words(asked_ms)
    if stage.cache_cycles is not None:
        asked += f" ({stage.cache_cycles} cache cycles)" if asked_ms > (stage.hold_ms or 0) else ""
    if until is None or stand.opened_at is None:
        return Condition("hold", False, "The hold clock has not started.", "not started", asked)
    seen = _coarse(stand.now - stand.opened_at)
    if stand.now < until:
        said = f"The hold is not over: {seen} of {asked}."
        return Condition("hold", False, said, seen, asked, until)
    return Condition("hold", True, "The hold is over.", seen, asked)


def _coarse(lasted: timedelta) -> str:
    """`12 s`, `41 min`, `5 h 20 min`: as fine as a person watches."""
    seconds = max(0, int(lasted.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
