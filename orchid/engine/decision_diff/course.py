"""One document's admission over the recorded arrivals.

What a request reserves is settled when the recording says that it ended, as long as the same route
serves it; a route that did not serve it takes its predicted time for the recorded output.
"""

import math

from orchid.engine.admission.decide import decide
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Decision, Offer
from orchid.engine.decision_diff.arrivals import Arrival
from orchid.engine.decision_diff.fleet import idle_fleet
from orchid.engine.decision_diff.flow import END, Flow
from orchid.engine.decision_diff.result import Answer
from orchid.engine.decision_diff.tally import Sums


class Course(Flow[Answer]):
    """The state of one document, and the sums of what it decided.

    `alone`: each request is decided by itself, on the idle fleet.
    """

    def __init__(self, policy: CompiledPolicy, slots: int | None, *, alone: bool) -> None:
        super().__init__(policy, idle_fleet(policy, slots))
        self.alone, self.sums = alone, Sums(policy.digest)

    def arrive(self, number: int, arrival: Arrival) -> Answer | None:
        if self.alone:
            request = arrival.request
            return self.sums.add(decide(request, self.state, self.policy, request.arrived_ms))
        return super().arrive(number, arrival)

    def _answer(self, decision: Decision) -> Answer:
        return self.sums.add(decision)

    def _hold(self, arrival: Arrival, decision: Decision, offer: Offer) -> None:
        """Reserve what was offered, up to the end of the work."""
        attempt_id = f"{self._sequence}"
        used = offer.output_tokens
        if arrival.output_tokens is not None and arrival.output_tokens < used:
            used = arrival.output_tokens
        self.state.reserve(attempt_id, decision, self.policy, self._now_ms, math.inf)
        self._later(_held_ms(arrival, offer, used), END, attempt_id, used)


def _held_ms(arrival: Arrival, offer: Offer, used_tokens: int) -> float:
    """How long the work takes: as recorded on the same route, else as predicted for its output."""
    held_ms, predicted = arrival.held_ms, offer.prediction
    if held_ms is not None and (arrival.route == offer.route or predicted.service_ms is None):
        return held_ms
    unused = (offer.output_tokens - used_tokens) / (offer.output_tokens or 1)
    return (predicted.service_ms or 0.0) - (predicted.decode_ms or 0.0) * unused
