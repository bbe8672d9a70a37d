"""The declared load of the reference product at one door: 100 tenants, 28 replicas of 24 slots.

Arrivals are Poisson at the declared rates. An answer is settled when 448 later ones are admitted,
so two thirds of the slots are busy: at 325 requests a second each takes 1.4 s, inside its deadline.
One request in twenty is of a class that the document does not list and takes the conservative
route; it brings its own segment, regulated and high risk among them.
"""

import random
import time
from collections import deque
from itertools import accumulate

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.admission.state import AdmissionState

TENANTS, REPLICAS, SLOTS = 100, 28, 24
IN_FLIGHT = REPLICAS * SLOTS * 2 // 3
UNLISTED_SHARE, FIRST_TENANT_SHARE = 0.05, 0.05
EXPIRES_MS = 60_000.0
RISKS = ("low", "high", "regulated")
LANGUAGES = ("en", "de", "fr")


class Arrivals:
    """The stream of requests of a document: one clock, one source of chance."""

    def __init__(self, policy: CompiledPolicy, seed: int = 1) -> None:
        self.classes = policy.document.classes
        self.dice, self.now_ms, self.count = random.Random(seed), 1e6, 0  # noqa: S311 (seeded)
        rates = [float(traffic.arrivals_per_s) for traffic in self.classes.values()]
        self.names, self.odds = list(self.classes), list(accumulate(rates))
        self.per_ms = sum(rates) / 1000.0

    def take(self, n: int) -> list[AdmissionRequest]:
        """The next `n`, each with an id that no other had."""
        return [self._next() for _ in range(n)]

    def _next(self) -> AdmissionRequest:
        dice = self.dice
        self.now_ms += dice.expovariate(self.per_ms)
        self.count += 1
        name = dice.choices(self.names, cum_weights=self.odds)[0]
        unlisted = dice.random() < UNLISTED_SHARE
        declared = self.classes[name]
        first = dice.random() < FIRST_TENANT_SHARE
        return AdmissionRequest(
            request_id=f"r{self.count}",
            class_="unlisted" if unlisted else name,
            arrived_ms=self.now_ms,
            tenant="acme" if first else f"tenant-{dice.randrange(1, TENANTS):02}",
            tenant_class=declared.dimensions["tenant_class"],
            segment=self._segment(name) if unlisted else {},
            input_tokens=round(declared.input_tokens * dice.uniform(0.3, 1.0)),
            max_output_tokens=round(declared.max_output_tokens * dice.uniform(0.6, 1.0)),
        )

    def _segment(self, name: str) -> dict[str, str]:
        drawn = {"risk": self.dice.choice(RISKS), "language": self.dice.choice(LANGUAGES)}
        return {**self.classes[name].dimensions, **drawn}


class Door:
    """Admission in the steady state of that load."""

    def __init__(self, policy: CompiledPolicy, seed: int = 1) -> None:
        self.policy, self.arrivals = policy, Arrivals(policy, seed)
        self.state: AdmissionState = idle_state(policy, slots=SLOTS, replicas=REPLICAS)
        self.held: deque[tuple[str, int]] = deque()
        self.refused = 0
        self.pass_through(self.arrivals.take(2 * IN_FLIGHT))

    def pass_through(self, requests: list[AdmissionRequest]) -> int:
        """Decide, reserve and settle for each, as an edge does; how many that were."""
        for request in requests:
            self.serve(request)
        return len(requests)

    def latencies_ns(self, requests: list[AdmissionRequest]) -> list[int]:
        """The same, and how long each took."""
        taken = []
        for request in requests:
            begin = time.perf_counter_ns()
            self.serve(request)
            taken.append(time.perf_counter_ns() - begin)
        return taken

    def serve(self, request: AdmissionRequest) -> None:
        """One request in, and the oldest attempt out."""
        state, policy, held = self.state, self.policy, self.held
        name, now_ms = request.request_id, request.arrived_ms
        decision = decide(request, state, policy, now_ms)
        offer = decision.offer
        if offer is None or offer.wait:
            self.refused += 1
            return
        state.reserve(name, decision, policy, now_ms, now_ms + EXPIRES_MS)
        held.append((name, offer.output_tokens // 2))
        if len(held) > IN_FLIGHT:
            oldest, used = held.popleft()
            state.settle(oldest, used, now_ms)

    @property
    def admitted(self) -> float:
        """The share of all requests so far."""
        return 1.0 - self.refused / self.arrivals.count
