"""Asks a candidate beside what decides: later, on a state of its own, within bounds.

A request's way only notes that it came, what it was answered and that it ended. A task of its own
reads the notes for a moment at a time, so that no request waits longer than that for it; what
doesn't fit into its time or memory is left out and counted. While the candidate's limits hold there
is no other state: what they refuse is decided once more without them, at once and by the same one.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable

from orchid.edge.active import Active
from orchid.edge.metrics import Metrics
from orchid.edge.questions import Question
from orchid.edge.shadow_lines import Asked, Ended, Judge, ShadowLines
from orchid.engine.admission.decide import decide
from orchid.engine.admission.overload import NORMAL
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import Decision
from orchid.engine.admission.state import AdmissionState
from orchid.engine.shadow.course import Beside
from orchid.engine.wire.contents import EarlyStage
from orchid.engine.wire.shadow import PassedOver

MOST_NOTED = 4_000  # notes that wait to be read
MOST_OPEN = 50_000  # attempts of the candidate
EVERY_S = 0.01
SLICE_S = 0.001  # read at most a tenth of the time, a millisecond at once
IDLE_S = 0.25


class Shadow:
    """What is decided beside. It only ever reads `state`, which decides."""

    def __init__(
        self, product: str, state: AdmissionState, metrics: Metrics, now_ms: Callable[[], float]
    ) -> None:
        self._state, self._now_ms = state, now_ms
        self._active: Active | None = None
        self.mode: EarlyStage | None = None  # what this publication asks for, if anything
        self._course: Beside | None = None
        self._ready: tuple[Ready, ...] = ()
        self._notes: deque[Asked | Ended] = deque()
        self._waiting: dict[int, Asked] = {}  # those that the candidate lets wait
        self._numbers = self._era = 0
        self.lines = ShadowLines(product, metrics, now_ms)

    @property
    def noted(self) -> int:
        """Notes that wait to be read."""
        return len(self._notes)

    def follow(self, active: Active) -> None:
        """Go by another publication. A candidate that is asked on keeps its state."""
        before, self._active, self.mode = self._active, active, active.mode
        if before is not None and _same_candidate(before, active):
            return
        self._era += 1
        self._notes.clear()
        self._waiting.clear()
        self.lines.begin()
        self._course = None
        if active.mode == "shadow" and active.candidate is not None:
            self._course = Beside(active.candidate, MOST_OPEN)
            self._course.use_replicas(self._ready, self._now_ms())

    def use_replicas(self, ready: Iterable[Ready]) -> None:
        """Take over which replicas are in service."""
        found = tuple(ready)
        if found == self._ready:
            return
        self._ready = found
        if self._course is not None:
            self._course.use_replicas(found, self._now_ms())

    def asks(self, question: Question) -> Asked | None:
        """Note that a request came; None where it is not decided twice."""
        active = self._active
        if self.mode is None or active is None or question.policy is not active.incumbent:
            return None
        why = self._why_not(question.policy)
        if why is not None:
            self.lines.pass_over(why)
            return None
        publication = active.bundle.publication
        asked = Asked(question.request, publication, self._now_ms(), self._era)
        if self._course is not None:
            self._notes.append(asked)
        return asked

    def answered(self, asked: Asked, decision: Decision) -> None:
        """Note what the request was answered, unless another candidate has come meanwhile."""
        if asked.era != self._era:
            return
        asked.decision = decision
        if self._course is None:
            asked.other = self._without_limits(decision)
        if self._course is None or asked.was_asked:
            self._notes.append(asked)

    def ended(self, request_id: str, attempt: int, output_tokens: int | None) -> None:
        """Note that an attempt is over. One that finds no room ends for the candidate by itself."""
        if self._course is not None and len(self._notes) < 2 * MOST_NOTED:
            self._notes.append(Ended(request_id, attempt, output_tokens, self._now_ms()))

    async def run(self) -> None:
        """Read notes for ever, a moment at a time."""
        while True:
            await asyncio.sleep(EVERY_S if self.mode else IDLE_S)
            self.read_notes(SLICE_S)

    def read_notes(self, within_s: float) -> None:
        """Read what was noted, for so long."""
        until = time.perf_counter() + within_s
        while self._notes and time.perf_counter() < until:
            self._read(self._notes.popleft())
        if self._course is not None and self._waiting and not self._notes:
            self._course.pass_until(self._now_ms())
            self._take(self._course)

    def _why_not(self, policy: CompiledPolicy) -> PassedOver | None:
        """What leaves a request out. No candidate is asked on a rung of the overload ladder."""
        if len(self._notes) >= MOST_NOTED:
            return "behind"
        if self._course is None:
            return None
        if self._state.ladders.get(policy.digest, NORMAL).rung:
            return "overload"
        return "memory" if self._course.is_full else None

    def _read(self, note: Asked | Ended) -> None:
        course = self._course
        if isinstance(note, Ended):
            if course is not None:
                key = note.request_id, note.attempt
                course.ended(key, note.output_tokens, note.at_ms)
                self._take(course)
            return
        if course is not None and not note.was_asked:
            note.was_asked, note.other = True, self._ask(course, note)
            self._take(course)
        if note.decision is not None and note.other is not None:
            self._write(note)

    def _ask(self, course: Beside, asked: Asked) -> Decision | None:
        offer = asked.decision.offer if asked.decision is not None else None
        route = offer.route if offer is not None else None
        self._numbers += 1
        decision = course.ask(self._numbers, asked.request, route, asked.at_ms)
        if decision is None:
            self._waiting[self._numbers] = asked
        return decision

    def _take(self, course: Beside) -> None:
        """What the candidate has decided of requests that it had let wait."""
        for number, decision in course.take():
            asked = self._waiting.pop(number, None)
            if asked is not None:
                asked.other = decision
                if asked.decision is not None:
                    self._write(asked)

    def _write(self, asked: Asked) -> None:
        course = self._course
        beside = Judge(course.policy, course.state) if course is not None else None
        if self._active is not None:
            self.lines.write(self._active, asked, beside, self._state)

    def _without_limits(self, decision: Decision) -> Decision:
        """What the incumbent alone decides; the same where its first option has passed."""
        alone = self._active.alone if self._active is not None else None
        if alone is None or (decision.offer is not None and not decision.explained):
            return decision
        return decide(decision.shape.request, self._state, alone, self._now_ms())


def _same_candidate(one: Active, other: Active) -> bool:
    """Whether the same is asked of the same candidate, beside the same incumbent."""
    return (
        one.mode == other.mode
        and one.bundle.slices == other.bundle.slices
        and one.bundle.pools == other.bundle.pools
        and one.bundle.generations == other.bundle.generations
    )
