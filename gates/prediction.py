"""What a generation would have done with recorded requests. Pure.

Requests are taken in the order they arrived, each served by the route that the generation would
choose first, for the service time it declares, on as many servers as it has devices, first come
first served without batching (the recursion of Kiefer and Wolfowitz 1955 for a queue G/G/c). It is
a prediction and labelled as one: no failures, no admission refusals, no shared work in a batch.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import preferred_route
from orchid.engine.timing import deadline_ms, service_ms

HOW_LATENCY = (
    "Predicted: the last {requests:,} recorded requests, first come first served on {servers} "
    "devices, each for the service time that the generation declares for its route; without "
    "batching, refusals or failures."
)
HOW_UTILITY = (
    "Predicted: evidence of each segment and route, weighed by the last {requests:,} recorded "
    "requests as the new fallback rules would route them."
)
HOW_COST = (
    "Predicted: the new ledger of ${hourly} an hour over the {rate:.4g} successes a second that "
    "the live generation reached."
)


class Recorded(Protocol):
    """What is known of a recorded request."""

    class_name: str
    input_tokens: int | None
    output_tokens: int | None
    max_output_tokens: int | None

    @property
    def dims(self) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Routed:
    """A recorded request as the generation would serve it; `arrived_ms` counts from the first."""

    arrived_ms: float
    dims: dict[str, str]
    route: str
    service_ms: float | None
    deadline_ms: float


def route_of(document: PolicyDocument, request: Recorded) -> str | None:
    """The route tried first: the fallback that policy prefers, else the class's own model."""
    traffic = document.classes.get(request.class_name)
    if traffic is None:
        return None
    return preferred_route(document, traffic.model, request.dims) or traffic.model


def routed(document: PolicyDocument, requests: Iterable[tuple[float, Recorded]]) -> list[Routed]:
    """Requests of classes that the document knows, each with its route and service time."""
    found = []
    for arrived_ms, request in requests:
        route = route_of(document, request)
        if route is None:
            continue
        deadline = float(deadline_ms(document, request.class_name))
        taken = _service(document, route, request)
        found.append(Routed(arrived_ms, request.dims, route, taken, deadline))
    return found


def completions_ms(requests: Sequence[Routed], servers: int) -> list[float] | None:
    """Completion times in order of arrival; None without requests or without a service time."""
    if not requests or any(request.service_ms is None for request in requests):
        return None
    free = [0.0] * servers
    done = []
    for request in sorted(requests, key=lambda r: r.arrived_ms):
        start = max(request.arrived_ms, heapq.heappop(free))
        end = start + (request.service_ms or 0.0)
        heapq.heappush(free, end)
        done.append(end - request.arrived_ms)
    return done


def _service(document: PolicyDocument, route: str, request: Recorded) -> float | None:
    timing = document.models[route].timing
    output = request.output_tokens or request.max_output_tokens
    if timing is None or request.input_tokens is None or output is None:
        return None
    served = service_ms(timing, request.input_tokens, output)
    return served + document.contract.post_model_reserve_ms
