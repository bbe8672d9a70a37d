"""The bounded queue of a pool, and who goes next.

    key = w_slack x slack/deadline + w_attained x attained/entitled + w_remaining x TEU/median
        - w_age x age/age bound + w_live x live tokens/free

The smallest key goes first, an entry over its age bound before all others. No term decides alone:
a short deadline, a tenant behind its share, a small piece of work, a long wait and a light hold on
memory each pull forward. Keys move with time, so they are computed for all at once, when something
changed, and not by each entry for itself.
"""

import math
from collections.abc import Callable

import msgspec

from orchid.engine.document.model import PolicyDocument


class OrderRules(msgspec.Struct, frozen=True, gc=False):
    """Weights of a document's `admission.queue`, and the age from which an entry goes first."""

    slack: float
    attained: float
    remaining: float
    age: float
    live: float
    age_bound_ms: float


def order_rules(document: PolicyDocument) -> OrderRules:
    declared, weights = document.admission.queue, document.admission.queue.weights
    return OrderRules(
        weights.slack,
        weights.attained,
        weights.remaining,
        weights.age,
        weights.live,
        float(declared.age_bound_ms or document.contract.deadline_ms),
    )


class Ahead(msgspec.Struct, frozen=True, gc=False):
    """The work in front of a place in the queue."""

    teu: float
    service_ms: float


class Entry(msgspec.Struct, gc=False):
    """A waiting request. `latest_start_ms` is the moment after which it can't be done in time.

    `share` names the level of the share tree that it is served from.
    """

    request_id: str
    arrived_ms: float
    deadline_ms: float
    latest_start_ms: float
    teu: float
    live_tokens: int
    service_ms: float
    share: int = 0
    key: tuple[float, float, str] = (0.0, 0.0, "")


Attained = Callable[[Entry], float]


class AdmissionQueue:
    """Waiting requests by id. Totals are kept, so joining and leaving cost the same in any queue.

    What is in front of an entry is that of the last reorder. One that joined since is behind all
    that were there.
    """

    __slots__ = ("_ahead", "_entries", "queued_service_ms", "queued_teu")

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._ahead: dict[str, Ahead] = {}
        self.queued_teu = 0.0
        self.queued_service_ms = 0.0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._entries

    @property
    def head(self) -> str | None:
        """Who goes next; nobody when the queue is empty."""
        return next(iter(self._entries), None)

    def ahead(self, request_id: str) -> Ahead:
        """What is in front of an entry; for a request that is not here, all of it."""
        found = self._ahead.get(request_id)
        return found or Ahead(self.queued_teu, self.queued_service_ms)

    def put(self, entry: Entry) -> None:
        """Join behind all others until the next reorder. One that is here keeps its place."""
        if entry.request_id in self._entries:
            return
        self._ahead[entry.request_id] = Ahead(self.queued_teu, self.queued_service_ms)
        self._entries[entry.request_id] = entry
        self.queued_teu += entry.teu
        self.queued_service_ms += entry.service_ms

    def leave(self, request_id: str) -> None:
        """Served, refused or gone; nothing when it is not here."""
        entry = self._entries.pop(request_id, None)
        if entry is None:
            return
        del self._ahead[request_id]
        self.queued_teu -= entry.teu
        self.queued_service_ms -= entry.service_ms
        if not self._entries:  # so that rounding can't pile up
            self.queued_teu = self.queued_service_ms = 0.0

    def reorder(
        self, rules: OrderRules, now_ms: float, attained: Attained, free_live_tokens: float
    ) -> tuple[str, ...]:
        """Put the queue in order as of now; the ids of those that left, too late to be served.

        `attained` says of an entry what its share got over what it is entitled to. The sort is
        over what the last one left nearly in order, which is close to linear.
        """
        late = tuple(e.request_id for e in self._entries.values() if e.latest_start_ms < now_ms)
        for request_id in late:
            self.leave(request_id)
        entries = list(self._entries.values())
        median = _median([entry.teu for entry in entries])
        free = max(free_live_tokens, 1.0)
        for entry in entries:
            entry.key = _key(entry, rules, now_ms, attained(entry), median, free)
        entries.sort(key=_by_key)
        self._place(entries)
        return late

    def _place(self, entries: list[Entry]) -> None:
        """Enter the order, with what is in front of each; the totals are summed afresh."""
        self._entries, teu, service_ms = {}, 0.0, 0.0
        for entry in entries:
            self._entries[entry.request_id] = entry
            self._ahead[entry.request_id] = Ahead(teu, service_ms)
            teu, service_ms = teu + entry.teu, service_ms + entry.service_ms
        self.queued_teu, self.queued_service_ms = teu, service_ms


def _key(
    entry: Entry, rules: OrderRules, now_ms: float, attained: float, median: float, free: float
) -> tuple[float, float, str]:
    age_ms = now_ms - entry.arrived_ms
    if age_ms >= rules.age_bound_ms:
        return (-math.inf, entry.arrived_ms, entry.request_id)
    value = (
        # A deadline may be none at all, with an arrival that is still to come.
        rules.slack * (entry.latest_start_ms - now_ms) / max(entry.deadline_ms, 1.0)
        + rules.attained * attained
        + rules.remaining * entry.teu / median
        - rules.age * age_ms / rules.age_bound_ms
        # Over 1 it doesn't fit at all, which must not outweigh everything else.
        + rules.live * min(entry.live_tokens / free, 1.0)
    )
    return (value, entry.arrived_ms, entry.request_id)


def _by_key(entry: Entry) -> tuple[float, float, str]:
    return entry.key


def _median(values: list[float]) -> float:
    """The middle of the sorted values, the lower of two; 1 where it would divide by nothing."""
    return sorted(values)[(len(values) - 1) // 2] or 1.0 if values else 1.0
