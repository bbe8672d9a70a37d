"""One replica as its edge knows it: what is warm, what runs, what waits, what it said of itself.

The model server takes requests first come, first served, over a fixed number of slots; this is a
mirror of that, moved only by our own dispatches and releases, so it needs no signal to be current.
"""

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from orchid.engine.admission.breaker import Breaker
from orchid.engine.admission.concurrency import Limiter
from orchid.engine.admission.signals import Signal


class Ready(msgspec.Struct, frozen=True):
    """What is said of a replica that takes requests.

    Without privacy cells it serves every cell, with some those alone. A route whose manifest it
    does not report is taken to be the right one. `devices` None is the whole fleet of its policy.
    """

    pool: str
    name: str
    slots: int
    warm: frozenset[str] = frozenset()
    privacy_cells: frozenset[str] = frozenset()
    region: str | None = None
    manifests: Mapping[str, str] = {}
    devices: int | None = None


@dataclass(slots=True, eq=False)
class Replica:
    """A replica by what is said of it, and its attempts by id.

    Counts are sizes of these sets, never integers that could disagree with them.
    """

    name: str
    slots: int = 0
    warm: frozenset[str] = frozenset()
    privacy_cells: frozenset[str] = frozenset()
    region: str | None = None
    manifests: Mapping[str, str] = field(default_factory=dict)
    devices: int | None = None
    breaker: Breaker | None = None
    signal: Signal | None = None
    limiter: Limiter | None = None
    running: dict[str, float] = field(default_factory=dict)  # attempt -> predicted end
    waiting: dict[str, float] = field(default_factory=dict)  # attempt -> service time
    live_tokens: int = 0  # of the reservations that it runs

    @property
    def in_flight(self) -> int:
        return len(self.running) + len(self.waiting)

    def wait_ms(self, now_ms: float) -> float:
        """Predicted wait for a slot, behind all that runs and waits here."""
        if self.waiting:
            ends = self.slot_ends(now_ms)
            return ends[0] - now_ms if ends else math.inf
        if len(self.running) < self.slots:
            return 0.0
        return max(0.0, min(self.running.values()) - now_ms) if self.slots else math.inf

    def slot_ends(self, now_ms: float) -> list[float]:
        """When each slot is free, the soonest first.

        Reserved service times are laid over the slots in order; one that is overdue counts as
        ending now.
        """
        ends = [end if end > now_ms else now_ms for end in self.running.values()]
        ends += [now_ms] * (self.slots - len(ends))
        heapq.heapify(ends)
        if ends:
            for service_ms in self.waiting.values():
                heapq.heapreplace(ends, ends[0] + service_ms)
        return ends

    def dispatch(self, attempt_id: str, service_ms: float, now_ms: float) -> None:
        """An attempt goes to the server: into a free slot, else behind those that wait."""
        if len(self.running) < self.slots:
            self.running[attempt_id] = now_ms + service_ms
        else:
            self.waiting[attempt_id] = service_ms

    def release(self, attempt_id: str, now_ms: float) -> None:
        """The attempt left the server; the first that waits takes its slot."""
        if self.running.pop(attempt_id, None) is None:
            self.waiting.pop(attempt_id, None)
        if self.waiting:
            self.fill(now_ms)

    def become(self, ready: "Ready | Replica", now_ms: float) -> None:
        """Take over what is said of this replica; its attempts stay."""
        self.slots, self.warm, self.devices = ready.slots, ready.warm, ready.devices
        self.privacy_cells, self.region = ready.privacy_cells, ready.region
        self.manifests = ready.manifests
        self.fill(now_ms)

    def fill(self, now_ms: float) -> None:
        """Move waiting attempts into free slots, as the server does."""
        while self.waiting and len(self.running) < self.slots:
            first = next(iter(self.waiting))
            self.running[first] = now_ms + self.waiting.pop(first)
