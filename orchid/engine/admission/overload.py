"""The overload ladder: which work is shed first, and how it comes back.

Only the rungs that a document lists exist, in its order. A rung is entered on queue wait, queued
work or held live tokens, never on utilisation or on total latency; climbing is immediate. It is
left one rung at a time, and where a rung acts on routes, one route at a time: each after the
bounds of the rung were undercut, without a break, for the time stated. Restoring all at once is
what makes the second wave.
"""

import math

import msgspec

from orchid.engine.document.demand import OPTIONAL_PURPOSES
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.overload import OverloadRung, OverloadStep, Thresholds

NUMBERS: dict[OverloadRung, int] = {
    "stop_shadow": 1,
    "defer_async": 2,
    "cap_optional_output": 3,
    "compact_fallback": 4,
    "reject_infeasible": 5,
}


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One look at a pool. Shares are of the queue's room and of the pool's live tokens."""

    queue_wait_ms: float
    queued: float
    live_tokens: float


class RungRules(msgspec.Struct, frozen=True, gc=False):
    """One listed rung. `routes` are those it acts on, in the order in which they come back."""

    name: OverloadRung
    enter: Sample
    leave: Sample
    dwell_ms: float
    steady_for_ms: float
    routes: tuple[str, ...] = ()


class LadderRules(msgspec.Struct, frozen=True, gc=False):
    """The rungs of a document, lowest first."""

    rungs: tuple[RungRules, ...] = ()


class Event(msgspec.Struct, frozen=True, gc=False):
    """A change with the figures that it rests on. `restored` is a route that came back alone."""

    before: str
    after: str
    at_ms: float
    sample: Sample
    restored: str | None = None


class Ladder(msgspec.Struct, frozen=True):
    """Where a pool stands. `step` counts the listed rungs in force; the sets say what follows."""

    step: int = 0
    rung: int = 0  # number of the highest rung in force, 0 when none is
    name: str = "normal"
    since_ms: float = 0.0
    calm_since_ms: float | None = None
    stops_optional: bool = False
    defers_async: bool = False
    capped: frozenset[str] = frozenset()
    compact: frozenset[str] = frozenset()
    refuses_waiting: bool = False
    event: Event | None = None

    def stops(self, purpose: str) -> bool:
        """Whether work of this purpose is not taken now."""
        return self.stops_optional and purpose in OPTIONAL_PURPOSES

    def caps_output(self, route: str) -> bool:
        """Whether optional output of requests for this route is capped now."""
        return route in self.capped

    def compact_first(self, route: str) -> bool:
        """Whether eligible requests for this route try their fallback first."""
        return route in self.compact


NORMAL = Ladder()


def observe(before: Ladder, sample: Sample, rules: LadderRules, now_ms: float) -> Ladder:
    """The ladder after one look at its pool; the very same one when nothing changed. Pure.

    A pool without any replica has no wait to go by, so its rungs stay as they are.
    """
    if sample.queue_wait_ms == math.inf:
        return before
    highest = _highest(sample, rules)
    if highest > before.step:
        return _moved(before, highest, sample, rules, now_ms)
    if before.step == 0:
        return before
    if highest == before.step and _has_restored(before, rules.rungs[before.step - 1]):
        return _moved(before, highest, sample, rules, now_ms)
    return _calmed(before, sample, rules, now_ms)


def _highest(sample: Sample, rules: LadderRules) -> int:
    """How many rungs the figures ask for: up to the last whose way in is reached."""
    for step in range(len(rules.rungs), 0, -1):
        enter = rules.rungs[step - 1].enter
        if (
            sample.queue_wait_ms >= enter.queue_wait_ms
            or sample.queued >= enter.queued
            or sample.live_tokens >= enter.live_tokens
        ):
            return step
    return 0


def _calmed(before: Ladder, sample: Sample, rules: LadderRules, now_ms: float) -> Ladder:
    """One step down, or one route back, once it was calm for long enough."""
    rung = rules.rungs[before.step - 1]
    if not _is_calm(sample, rung):
        return before if before.calm_since_ms is None else _at(before, calm_since_ms=None)
    if before.calm_since_ms is None or before.calm_since_ms > now_ms:  # the clock was put back
        before = _at(before, calm_since_ms=now_ms)
    steady = now_ms - (before.calm_since_ms or 0.0) >= rung.steady_for_ms
    if not steady or 0.0 <= now_ms - before.since_ms < rung.dwell_ms:
        return before
    held = _held(before, rung)
    if len(held) > 1:
        return _restored(before, held, sample, now_ms)
    return _moved(before, before.step - 1, sample, rules, now_ms)


def _is_calm(sample: Sample, rung: RungRules) -> bool:
    return (
        sample.queue_wait_ms <= rung.leave.queue_wait_ms
        and sample.queued <= rung.leave.queued
        and sample.live_tokens <= rung.leave.live_tokens
    )


def _held(ladder: Ladder, rung: RungRules) -> tuple[str, ...]:
    """Routes that the rung still acts on, the next to come back first."""
    acted_on = ladder.compact if rung.name == "compact_fallback" else ladder.capped
    return tuple(route for route in rung.routes if route in acted_on)


def _has_restored(ladder: Ladder, rung: RungRules) -> bool:
    return len(_held(ladder, rung)) < len(rung.routes)


def _restored(before: Ladder, held: tuple[str, ...], sample: Sample, now_ms: float) -> Ladder:
    """The first of the routes is as it was; the next needs its own calm."""
    left = frozenset(held[1:])
    event = Event(before.name, before.name, now_ms, sample, restored=held[0])
    ladder = _at(before, calm_since_ms=now_ms)
    if before.name == "compact_fallback":
        return msgspec.structs.replace(ladder, compact=left, event=event)
    return msgspec.structs.replace(ladder, capped=left, event=event)


def _moved(before: Ladder, step: int, sample: Sample, rules: LadderRules, now_ms: float) -> Ladder:
    """The ladder on another step, with all that its rungs prescribe in full."""
    rungs = {rung.name: rung for rung in rules.rungs[:step]}
    name = rules.rungs[step - 1].name if step else "normal"
    capped, compact = rungs.get("cap_optional_output"), rungs.get("compact_fallback")
    return Ladder(
        step=step,
        rung=max((NUMBERS[rung] for rung in rungs), default=0),
        name=name,
        since_ms=now_ms,
        calm_since_ms=now_ms if step and step < before.step else None,
        stops_optional="stop_shadow" in rungs,
        defers_async="defer_async" in rungs,
        capped=frozenset(capped.routes) if capped else frozenset(),
        compact=frozenset(compact.routes) if compact else frozenset(),
        refuses_waiting="reject_infeasible" in rungs,
        event=Event(before.name, name, now_ms, sample),
    )


def _at(before: Ladder, *, calm_since_ms: float | None) -> Ladder:
    return msgspec.structs.replace(before, calm_since_ms=calm_since_ms)


def ladder_rules(document: PolicyDocument) -> LadderRules:
    """The document's rungs with their thresholds and the routes that each acts on."""
    return LadderRules(tuple(_rung(document, step) for step in document.overload_steps))


def _rung(document: PolicyDocument, step: OverloadStep) -> RungRules:
    assert step.enter is not None
    assert step.leave is not None
    return RungRules(
        name=step.rung,
        enter=_bounds(step.enter),
        leave=_bounds(step.leave),
        dwell_ms=float(step.dwell_ms),
        steady_for_ms=float(step.steady_for_ms),
        routes=_routes(document, step.rung),
    )


def _bounds(given: Thresholds) -> Sample:
    """Filled-in thresholds as plain numbers; the document has put its defaults already."""
    assert given.queue_wait_ms is not None
    assert given.queued is not None
    assert given.live_tokens is not None
    return Sample(float(given.queue_wait_ms), given.queued, given.live_tokens)


def _routes(document: PolicyDocument, rung: OverloadRung) -> tuple[str, ...]:
    """The cheapest comes back first: it is the smallest step of load."""
    if rung == "compact_fallback":
        found = {rule.from_ for rule in document.fallback if rule.from_ is not None}
    elif rung == "cap_optional_output":
        capped = (c for c in document.classes.values() if c.capped_output_tokens is not None)
        found = {traffic.model for traffic in capped}
    else:
        found = set()
    factors = document.demand.model_factor
    return tuple(sorted(found, key=lambda route: (factors.get(route, 0), route)))
