"""Decide at once, or wait for a turn: who waits sleeps until it is called.

A change in the fleet is one reorder and a call of whoever is first, not a decision of everyone who
waits. Each wait ends at the latest when the work can no longer be done in time.
"""

import asyncio
from collections.abc import Callable

from orchid.edge.fleet import Fleet
from orchid.edge.questions import Question
from orchid.engine.admission.decide import decide
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Decision, Offer
from orchid.engine.admission.state import AdmissionState


class Line:
    """The queue of this edge, on one event loop."""

    def __init__(self, state: AdmissionState, fleet: Fleet, now_ms: Callable[[], float]) -> None:
        self._state, self._fleet, self._now_ms = state, fleet, now_ms
        self._sleepers: dict[str, asyncio.Event] = {}
        self._policies: dict[str, CompiledPolicy] = {}  # by pool, where somebody may wait
        self._due: asyncio.Handle | None = None

    async def decision(self, question: Question) -> Decision:
        """The request's decision, after its wait where it has to wait."""
        request, policy, waits = question.request, question.policy, False
        self._fleet.glance(policy)
        try:
            while True:
                now_ms = self._now_ms()
                decision = decide(request, self._state, policy, now_ms, explain=question.explain)
                offer = decision.offer
                if offer is None or not offer.wait:
                    return decision
                waits = True
                self._state.enqueue(decision, policy)
                self._policies[policy.pool] = policy
                await self._sleep(request.request_id, _latest_start_ms(decision, offer, policy))
        finally:
            if waits:
                self._state.leave_queue(policy.pool, request.request_id)
                self.changed()

    def changed(self) -> None:
        """Something was released or came free: the first in line is asked again, soon and once."""
        if self._due is None and self._policies:
            self._due = asyncio.get_running_loop().call_soon(self._take_turn)

    def rearranged(self) -> None:
        """Replicas came, went or changed, and places in line with them: everyone asks again."""
        for sleeper in self._sleepers.values():
            sleeper.set()

    def _take_turn(self) -> None:
        self._due = None
        for name, policy in list(self._policies.items()):
            late = self._state.reorder(policy, self._now_ms())
            pool = self._state.pools.get(name)
            heads = [lane.queue.head for lane in pool.lanes] if pool is not None else []
            if not any(heads):
                del self._policies[name]
            for request_id in (*late, *heads):
                self._call(request_id)

    def _call(self, request_id: str | None) -> None:
        sleeper = self._sleepers.get(request_id or "")
        if sleeper is not None:
            sleeper.set()

    async def _sleep(self, request_id: str, until_ms: float) -> None:
        """Return when called, or a moment after there is nothing to wait for any more."""
        called = self._sleepers[request_id] = asyncio.Event()
        within_s = max(0.0, until_ms - self._now_ms() + 1.0) / 1000.0
        try:
            await asyncio.wait_for(called.wait(), within_s)
        except TimeoutError:
            return
        finally:
            del self._sleepers[request_id]


def _latest_start_ms(decision: Decision, offer: Offer, policy: CompiledPolicy) -> float:
    """The moment after which the offered work can't be done in time any more."""
    service_ms = offer.prediction.service_ms or 0.0
    return decision.shape.due_ms - policy.reserve_ms - service_ms
