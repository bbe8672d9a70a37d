"""One pool of replicas as its edge knows it: what is warm, what runs, what waits.

The model server takes requests first come, first served, over a fixed number of slots; this is a
mirror of that, moved only by our own dispatches and releases, so it needs no signal to be current.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Running:
    """An attempt in a slot: since when, and the service time that was reserved for it."""

    started_ms: float
    service_ms: float


@dataclass(frozen=True, slots=True)
class Queued:
    """A request in the bounded queue of the edge, not yet dispatched."""

    teu: Decimal
    service_ms: float


@dataclass(slots=True)
class Pool:
    """Slots, warm routes, and attempts by id. Counts are sizes of these sets, never integers."""

    name: str
    slots: int
    warm: frozenset[str]
    running: dict[str, Running] = field(default_factory=dict)
    waiting: dict[str, float] = field(default_factory=dict)  # dispatched, behind the slots
    queued: dict[str, Queued] = field(default_factory=dict)  # by request id, in order

    @property
    def in_flight(self) -> int:
        return len(self.running) + len(self.waiting)

    def queued_teu(self, before: str | None = None) -> Decimal:
        """TEU in the queue, or in front of one request of it."""
        return sum((self.queued[key].teu for key in self._ahead(before)), Decimal(0))

    def next_in_queue(self, request_id: str) -> bool:
        """Whether nobody in the queue is in front of the request."""
        return next(iter(self.queued), request_id) == request_id

    def wait_ms(self, now_ms: float, request_id: str | None = None) -> float:
        """Predicted wait for a slot, behind all that runs and waits.

        A request that is in the queue already waits for those in front of it alone. Reserved
        service times are laid over the slots in order; one that is overdue counts as ending now.
        """
        ahead = [self.queued[key].service_ms for key in self._ahead(request_id)]
        if len(self.running) < self.slots and not self.waiting and not ahead:
            return 0.0
        ends = [max(now_ms, r.started_ms + r.service_ms) for r in self.running.values()]
        free_at = [now_ms] * (self.slots - len(ends)) + ends
        if not free_at:
            return float("inf")
        heapq.heapify(free_at)
        for service_ms in (*self.waiting.values(), *ahead):
            heapq.heapreplace(free_at, free_at[0] + service_ms)
        return free_at[0] - now_ms

    def dispatch(self, attempt_id: str, service_ms: float, now_ms: float) -> None:
        """An attempt goes to the server: into a free slot, else behind those that wait."""
        if len(self.running) < self.slots:
            self.running[attempt_id] = Running(now_ms, service_ms)
        else:
            self.waiting[attempt_id] = service_ms

    def release(self, attempt_id: str, now_ms: float) -> None:
        """The attempt left the server; the first that waits takes its slot."""
        self.waiting.pop(attempt_id, None)
        self.running.pop(attempt_id, None)
        self.fill(now_ms)

    def fill(self, now_ms: float) -> None:
        """Move waiting attempts into free slots, as the server does."""
        while self.waiting and len(self.running) < self.slots:
            first = next(iter(self.waiting))
            self.running[first] = Running(now_ms, self.waiting.pop(first))

    def _ahead(self, request_id: str | None) -> Iterable[str]:
        return takewhile(lambda key: key != request_id, self.queued)
