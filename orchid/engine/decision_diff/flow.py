"""One policy's admission over arriving requests: the same steps as at an edge, on one clock.

A request is decided when it arrives. A request that has to wait is asked again when something was
released, and for the last time when its work could not be done in time any more. A deferred one
comes back when it was told to and holds what it then gets, without being counted twice. What an
answer is, and how long an admitted request holds what it reserved, is for whoever asks.
"""

import heapq
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from msgspec.structs import replace

from orchid.engine.admission.decide import decide
from orchid.engine.admission.overload import NORMAL, observe
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Decision, Deferral, Offer
from orchid.engine.admission.state import AdmissionState
from orchid.engine.decision_diff.arrivals import Arrival

AnswerT = TypeVar("AnswerT")

#: How often the overload ladder looks at the fleet.
LOOK_EVERY_MS = 100.0
#: The number of a request that is not to be counted: the later run of a deferred one.
UNCOUNTED = -1


END, LAST_MOMENT, LATER_RUN = range(3)
#: When, in which order of equals, what; the attempt or request it is about; tokens; what arrives.
Event = tuple[float, int, int, str, int, Arrival | None]


class Flow(ABC, Generic[AnswerT]):
    """The state of one policy, and what happens in it as time goes by.

    `decided` holds the answers, by number, that came later than their arrival.
    """

    def __init__(self, policy: CompiledPolicy, state: AdmissionState) -> None:
        self.policy, self.state = policy, state
        self.decided: list[tuple[int, AnswerT]] = []
        self._now_ms = self._looked_ms = 0.0
        self._sequence = 0
        self._events: list[Event] = []
        self._waiting: dict[str, tuple[int, Arrival]] = {}
        self._deferred: set[str] = set()

    @abstractmethod
    def _answer(self, decision: Decision) -> AnswerT:
        """What is made of a decision that counts."""

    @abstractmethod
    def _hold(self, arrival: Arrival, decision: Decision, offer: Offer) -> None:
        """Reserve what was offered, and see to it that it ends."""

    def arrive(self, number: int, arrival: Arrival) -> AnswerT | None:
        """The answer to the next request; None when it waits. Time never goes back."""
        request = arrival.request
        if request.arrived_ms > self._now_ms:
            self._pass_until(request.arrived_ms)
        if request.continues is not None:
            self._deferred.discard(request.continues)
        decision = decide(request, self.state, self.policy, self._now_ms)
        offer = decision.offer
        if offer is not None and not offer.wait:
            self._hold(arrival, decision, offer)
        elif offer is not None:
            self._wait(number, arrival, decision, offer)
            return None
        elif decision.deferral is not None:
            self._put_off(arrival, decision.deferral)
        return self._answer(decision) if number != UNCOUNTED else None

    def take(self) -> list[tuple[int, AnswerT]]:
        """What was decided since, of requests that had to wait."""
        taken, self.decided = self.decided, []
        return taken

    def finish(self) -> list[tuple[int, AnswerT]]:
        """Let everything come to its end."""
        while self._events:
            self._pass_until(self._events[0][0])
        return self.take()

    def _pass_until(self, now_ms: float) -> None:
        """Let happen what is due up to a moment, in the order of time."""
        events = self._events
        while events and events[0][0] <= now_ms:
            at_ms, _, kind, name, tokens, arrival = heapq.heappop(events)
            if at_ms > self._now_ms:
                self._now_ms = at_ms
            if kind == END:
                self._end(name, tokens)
            elif kind == LAST_MOMENT and name in self._waiting:
                self._ask_again(name, last=True)
            elif kind == LATER_RUN and arrival is not None:
                self._run_deferred(name, arrival)
            if self._waiting:
                self._serve_waiting()
        if now_ms > self._now_ms:
            self._now_ms = now_ms
        if self._now_ms - self._looked_ms >= LOOK_EVERY_MS:
            self._look()

    def _run_deferred(self, request_id: str, arrival: Arrival) -> None:
        """A deferred request comes back by itself, unless its recorded run was here first."""
        if request_id in self._deferred:
            self._deferred.discard(request_id)
            self.arrive(UNCOUNTED, arrival)

    def _look(self) -> None:
        """The overload ladder, as of now."""
        self._looked_ms, ladders = self._now_ms, self.state.ladders
        before = ladders.get(self.policy.digest, NORMAL)
        sample = self.state.sample(self.policy, self._now_ms)
        after = observe(before, sample, self.policy.ladder, self._now_ms)
        if after is not before:
            ladders[self.policy.digest] = after

    def _end(self, name: str, tokens: int) -> None:
        """The work of an attempt is over, unless it was before."""
        self.state.settle(name, tokens, self._now_ms)

    def _wait(self, number: int, arrival: Arrival, decision: Decision, offer: Offer) -> None:
        request = arrival.request
        if request.request_id in self._waiting:
            # A record that came twice waits under a name of its own.
            request = replace(request, request_id=f"{request.request_id}#{self._sequence}")
            arrival = replace(arrival, request=request)
            decision = replace(decision, shape=replace(decision.shape, request=request))
        self._waiting[request.request_id] = (number, arrival)
        self._queue(decision, offer)

    def _queue(self, decision: Decision, offer: Offer) -> None:
        """Into the queue, or leave it in its place there, until the offer can't be kept."""
        self.state.enqueue(decision, self.policy)
        service_ms = offer.prediction.service_ms or 0.0
        latest_ms = decision.shape.due_ms - self.policy.reserve_ms - service_ms
        request_id = decision.shape.request.request_id
        self._later(latest_ms - self._now_ms + 1.0, LAST_MOMENT, request_id)

    def _serve_waiting(self) -> None:
        """Ask the first of each queue, and the next as long as the first doesn't have to wait."""
        for request_id in self.state.reorder(self.policy, self._now_ms):
            self._ask_again(request_id, last=True)
        for lane in self.state.pools[self.policy.pool].lanes:
            while (head := lane.queue.head) is not None:
                if not self._ask_again(head):
                    break

    def _ask_again(self, request_id: str, *, last: bool = False) -> bool:
        """Decide about one that waits; whether it is decided.

        At the last moment of what it waited for, another option may be left to wait for.
        """
        number, arrival = self._waiting[request_id]
        decision = decide(arrival.request, self.state, self.policy, self._now_ms)
        offer = decision.offer
        if offer is not None and offer.wait:
            if last:
                self._queue(decision, offer)
            return False
        del self._waiting[request_id]
        self.state.leave_queue(self.policy.pool, request_id)
        if offer is not None:
            self._hold(arrival, decision, offer)
        elif decision.deferral is not None:
            self._put_off(arrival, decision.deferral)
        if number != UNCOUNTED:
            self.decided.append((number, self._answer(decision)))
        return True

    def _put_off(self, arrival: Arrival, deferral: Deferral) -> None:
        """A deferred request comes back when it was told to."""
        first = arrival.request
        self._deferred.add(first.request_id)
        request: AdmissionRequest = replace(
            first,
            arrived_ms=self._now_ms + deferral.after_ms,
            continues=None,
            first_arrived_ms=first.first_arrived_ms or first.arrived_ms,
        )
        later = replace(arrival, request=request)
        self._later(deferral.after_ms, LATER_RUN, first.request_id, arrival=later)

    def _later(
        self, after_ms: float, kind: int, name: str, tokens: int = 0, arrival: Arrival | None = None
    ) -> None:
        self._sequence += 1
        at_ms = self._now_ms + after_ms if after_ms > 0.0 else self._now_ms
        heapq.heappush(self._events, (at_ms, self._sequence, kind, name, tokens, arrival))
