"""A fleet in the small, driven event by event on a clock of its own: no time passes by itself."""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.overload import NORMAL, Event, Ladder, observe
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.admission.state import AdmissionState

LOOK_EVERY_MS = 100.0


@dataclass
class World:
    """Decides, reserves, serves for as long as predicted, settles. `fails_until` breaks it."""

    policy: CompiledPolicy
    slots: int
    fails_until_ms: float = 0.0
    on_end: Callable[[str, bool], None] = lambda name, ok: None
    now_ms: float = 0.0
    decisions: dict[str, Decision] = field(default_factory=dict)
    started: list[tuple[float, str]] = field(default_factory=list)
    served: dict[str, float] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    _due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _waiting: dict[str, AdmissionRequest] = field(default_factory=dict)
    _count: int = 0

    def __post_init__(self) -> None:
        self.state: AdmissionState = idle_state(self.policy, slots=self.slots)

    @property
    def ladder(self) -> Ladder:
        return self.state.ladders.get(self.policy.digest, NORMAL)

    def at(self, moment_ms: float, act: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._due, (moment_ms, self._count, act))

    def ask(self, moment_ms: float, name: str, class_: str, **given: Any) -> None:
        """Plan the arrival of a request."""
        request = AdmissionRequest(
            **{"request_id": name, "class_": class_, "arrived_ms": moment_ms, **given}
        )
        self.at(moment_ms, lambda: self.decide(request))

    def run(self, until_ms: float) -> None:
        for n in range(int(self.now_ms / LOOK_EVERY_MS), int(until_ms / LOOK_EVERY_MS)):
            self.at(n * LOOK_EVERY_MS, self.look)
        while self._due and self._due[0][0] <= until_ms:
            self.now_ms, _, act = heapq.heappop(self._due)
            act()

    def look(self) -> None:
        """What a timer and every decision do: one look at the rungs."""
        before = self.ladder
        sample = self.state.sample(self.policy, self.now_ms)
        after = observe(before, sample, self.policy.ladder, self.now_ms)
        self.state.ladders[self.policy.digest] = after
        if after.event is not None and after.event is not before.event:
            self.events.append(after.event)

    def decide(self, request: AdmissionRequest) -> None:
        self.look()
        name = request.request_id
        decision = decide(request, self.state, self.policy, self.now_ms)
        self.decisions[name] = decision
        self._waiting.pop(name, None)
        if decision.offer is None:
            self.state.leave_queue(self.policy.pool, name)
        elif decision.offer.wait:
            self.state.enqueue(decision, self.policy)
            self._waiting[name] = request
        else:
            self.state.leave_queue(self.policy.pool, name)
            self._begin(name, decision)

    def _begin(self, name: str, decision: Decision) -> None:
        offer = decision.offer
        assert offer is not None
        self.state.reserve(name, decision, self.policy, self.now_ms, self.now_ms + 60_000)
        self.started.append((self.now_ms, name))
        fails = self.now_ms < self.fails_until_ms
        took_ms = 10.0 if fails else offer.prediction.service_ms or 0.0
        self.at(self.now_ms + took_ms, lambda: self._end(name, ok=not fails))

    def _end(self, name: str, *, ok: bool) -> None:
        replica = self.state.live[name].replica
        assert replica is not None
        assert replica.breaker is not None
        replica.breaker.note(ok, name, self.now_ms)
        self.state.settle(name, 20 if ok else 0, self.now_ms)
        if ok:
            self.served[name] = self.now_ms
        self.on_end(name, ok)
        self._call(self.state.reorder(self.policy, self.now_ms))

    def _call(self, late: Iterable[str]) -> None:
        for name in late:
            self.decide(self._waiting[name])
        for lane in self.state.pools[self.policy.pool].lanes:
            while (head := lane.queue.head) is not None:
                self.decide(self._waiting[head])
                if head in self._waiting:
                    break
