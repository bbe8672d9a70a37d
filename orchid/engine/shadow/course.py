"""A candidate's admission beside the one that decides, on a state of its own.

It meets the same requests at the same moments and holds what its own decisions reserve. A request
that the incumbent serves by the same route is held until that one has ended, whose time is then
known; every other is held for its predicted time. Signals of replicas tell of the incumbent's load
and are left out; a replica that is out of service is out for both.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import AdmissionRequest, Decision, Offer
from orchid.engine.admission.state import AdmissionState
from orchid.engine.decision_diff.arrivals import Arrival
from orchid.engine.decision_diff.fleet import declared_replicas
from orchid.engine.decision_diff.flow import END, Flow

#: Longest that an attempt is followed whose end nobody tells, after its deadline.
GRACE_MS = 30_000.0

#: A request and the number of its attempt.
Key = tuple[str, int]


class Beside(Flow[Decision]):
    """The candidate's state, and its decisions as requests come and end. `most` bounds what it
    remembers at once: attempts that are open and requests that wait."""

    def __init__(self, policy: CompiledPolicy, most: int) -> None:
        super().__init__(replace(policy, signals=None), AdmissionState())
        self._most = most
        self._followed: dict[Key, str] = {}
        self._keys: dict[str, Key] = {}

    @property
    def is_full(self) -> bool:
        """Whether one more request would be one too many."""
        return len(self._events) >= self._most

    def use_replicas(self, ready: Iterable[Ready], now_ms: float) -> None:
        """Take over which replicas serve; where its pool has none yet, those that it declares."""
        mine = [replica for replica in ready if replica.pool == self.policy.pool]
        self.state.replace_pools(mine or declared_replicas(self.policy), now_ms)

    def ask(
        self, number: int, request: AdmissionRequest, route: str | None, now_ms: float
    ) -> Decision | None:
        """The candidate's decision; None when it waits. `route` serves it under the incumbent."""
        self.pass_until(now_ms)
        return self.arrive(number, Arrival(request, "", route, None, None))

    def ended(self, key: Key, output_tokens: int | None, now_ms: float) -> None:
        """The incumbent's attempt is over; without tokens it used all that it reserved."""
        name = self._followed.get(key)
        if name is None:
            return
        self.pass_until(now_ms)
        held = self.state.live.get(name)
        if held is not None:
            self._end(name, held.offer.output_tokens if output_tokens is None else output_tokens)
            if self._waiting:
                self._serve_waiting()

    def pass_until(self, now_ms: float) -> None:
        """Let happen what is due."""
        self._pass_until(now_ms)

    def _answer(self, decision: Decision) -> Decision:
        return decision

    def _hold(self, arrival: Arrival, decision: Decision, offer: Offer) -> None:
        name, request = f"{self._sequence}", arrival.request
        self.state.reserve(name, decision, self.policy, self._now_ms, math.inf)
        lasts_ms = offer.prediction.queue_ms + (offer.prediction.service_ms or 0.0)
        if arrival.route == offer.route:
            key = request.request_id, request.attempt
            self._followed[key], self._keys[name] = name, key
            lasts_ms = decision.shape.due_ms + GRACE_MS - self._now_ms
        self._later(lasts_ms, END, name, offer.output_tokens)

    def _end(self, name: str, tokens: int) -> None:
        key = self._keys.pop(name, None)
        if key is not None and self._followed.get(key) == name:
            del self._followed[key]
        super()._end(name, tokens)
