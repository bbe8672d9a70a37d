"""The statement of a stretch of time: its ledger, who it was laid on, and what of it was wasted."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import NamedTuple

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics.allocation import (
    Allocated,
    Capacity,
    Consumer,
    allocate,
    kept_busy,
)
from orchid.engine.economics.ledger import Held, PoolHour, parts_of_usd
from orchid.engine.rollup import CAUSES, FIGURES, Figure, Sums

TEU, ACCELERATOR_MS = "teu", "accelerator_ms"
_WORK = {TEU: ("work_teu", "teu"), ACCELERATOR_MS: ("accelerator_ms", "ms")}
_NONE = Figure()


class Traffic(NamedTuple):
    """What was counted of one key in one hour, for a generation under one publication.

    `route` is None where the key says nothing of routes. `successes` are those that evidence
    covers, or the technical ones where the key can't be held against evidence.
    """

    hour_at: datetime
    digest: str
    cohort: str
    key: Hashable
    route: str | None
    sums: Sums
    successes: int


@dataclass(slots=True)
class Waste:
    """Wasted work of one cause in parts of milliseconds, TEU and dollars."""

    ms: int = 0
    teu: int = 0
    usd: int = 0

    def add(self, ms: int, teu: int, usd: int) -> None:
        self.ms += ms
        self.teu += teu
        self.usd += usd


@dataclass(slots=True)
class Entry:
    """What was counted of one key."""

    requests: int = 0
    admitted: int = 0
    attempts: int = 0
    successes: int = 0
    unpriced: int = 0
    ms: int = 0
    teu: int = 0
    told: int = 0
    """Requests whose time on devices was told."""
    tried: int = 0
    """Requests with any attempt."""
    waste: dict[str, Waste] = field(default_factory=lambda: {cause: Waste() for cause in CAUSES})

    def add(self, other: Traffic) -> None:
        sums = other.sums
        self.requests += sums.counters["eligible"]
        self.admitted += sums.counters["admitted"]
        self.attempts += _figure(sums, "attempts").total
        self.successes += other.successes
        self.unpriced += sums.counters["unpriced"]
        self.ms += _figure(sums, "accelerator_ms").total
        self.teu += work_teu(sums)
        self.told += _figure(sums, "accelerator_ms").count
        self.tried += _figure(sums, "attempts").count

    def merge(self, other: "Entry") -> None:
        """Add what another key has."""
        for one in fields(self):
            if one.name != "waste":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        for cause, waste in other.waste.items():
            self.waste[cause].add(waste.ms, waste.teu, waste.usd)

    @property
    def wasted(self) -> Waste:
        """All causes together."""
        whole = Waste()
        for one in self.waste.values():
            whole.add(one.ms, one.teu, one.usd)
        return whole


@dataclass(slots=True)
class Statement:
    """Dollars in parts. What is laid on keys, promise and investment is `total`, exactly."""

    hours: Sequence[PoolHour]
    external: int = 0
    allocated: Allocated = field(default_factory=Allocated)
    entries: dict[Hashable, Entry] = field(default_factory=lambda: defaultdict(Entry))
    measured_by: set[str] = field(default_factory=set)
    """What the work was measured by; two where one pool's attempts told less than another's."""

    @property
    def total(self) -> int:
        return sum(hour.total_parts for hour in self.hours) + self.external

    @property
    def whole(self) -> Entry:
        """Every key together."""
        found = Entry()
        for one in self.entries.values():
            found.merge(one)
        return found


def statement(
    hours: Sequence[PoolHour],
    traffic: Iterable[Traffic],
    documents: Mapping[str, PolicyDocument],
    working: Mapping[tuple[str, datetime], frozenset[str]],
) -> Statement:
    """Lay each hour of each pool on what it served; `working` are the routes that served then.

    What was counted in an hour without a ledger line (before its window opened) has no devices to
    pay for, and still its external dollars.
    """
    found = Statement(hours)
    served: dict[tuple[str, datetime], list[Traffic]] = defaultdict(list)
    for one in traffic:
        served[pool_of(documents[one.digest], one.digest), one.hour_at].append(one)
        found.entries[one.key].add(one)
    lines = {(hour.pool, hour.hour_at): hour for hour in hours}
    for place in sorted({*served, *lines}):
        some = served.get(place, [])
        hour = lines.get(place) or PoolHour(*place, documents[some[0].digest], Held(), Held())
        _lay(found, hour, some, working.get(place, frozenset()))
    return found


def pool_of(document: PolicyDocument, digest: str) -> str:
    """What a generation's requests were served by, as the ledger names it."""
    return document.fleet.pool or digest


def working_routes(
    traffic: Iterable[Traffic], documents: Mapping[str, PolicyDocument]
) -> dict[tuple[str, datetime], frozenset[str]]:
    """By pool and hour, the routes that had work of requests that pay."""
    found: dict[tuple[str, datetime], set[str]] = defaultdict(set)
    for one in traffic:
        if one.route and one.cohort != "shadow" and work_teu(one.sums):
            found[pool_of(documents[one.digest], one.digest), one.hour_at].add(one.route)
    return {place: frozenset(routes) for place, routes in found.items()}


def work_teu(sums: Sums) -> int:
    """Parts of TEU that were worked: of the attempts, or as reserved where none told its own."""
    figure = _figure(sums, "work_teu")
    return figure.total if figure.count else round(sums.teu * FIGURES["work_teu"])


def _lay(
    found: Statement, hour: PoolHour, served: Sequence[Traffic], working: frozenset[str]
) -> None:
    unit = _unit(hour, served)
    capacity = _capacity(hour, unit)
    consumers = [_consumer(one, unit) for one in served]
    found.external += sum(one.external for one in consumers)
    found.allocated.add(allocate(hour, consumers, capacity, working))
    used = sum(one.work for one in consumers)
    if used:
        found.measured_by.add(unit)
        _waste(found, served, unit, kept_busy(hour, used, capacity), used)


def _unit(hour: PoolHour, served: Sequence[Traffic]) -> str:
    """Time on devices where the rule says so and every request with an attempt told it."""
    tried = sum(_figure(one.sums, "attempts").count for one in served)
    told = sum(_figure(one.sums, "accelerator_ms").count for one in served)
    by_time = hour.document.allocation.direct == ACCELERATOR_MS and 0 < told == tried
    return ACCELERATOR_MS if by_time else TEU


def _capacity(hour: PoolHour, unit: str) -> Capacity:
    both = hour.live + hour.invested
    could = both.device_ms if unit == ACCELERATOR_MS else both.teu
    return Capacity(unit, round(could * FIGURES[_WORK[unit][0]]))


def _consumer(one: Traffic, unit: str) -> Consumer:
    sums = one.sums
    return Consumer(
        one.key,
        sums.counters["eligible"],
        one.successes,
        work_teu(sums) if unit == TEU else _figure(sums, "accelerator_ms").total,
        one.route,
        parts_of_usd(sums.cost_usd),
        one.cohort == "shadow",
    )


def _waste(found: Statement, served: Sequence[Traffic], unit: str, direct: int, used: int) -> None:
    """A part of the direct dollars, as large as the wasted part of the work."""
    for one in served:
        for cause, waste in found.entries[one.key].waste.items():
            ms = _figure(one.sums, f"wasted_{cause}_ms").total
            teu = _figure(one.sums, f"wasted_{cause}_teu").total
            work = ms if unit == ACCELERATOR_MS else teu
            waste.add(ms, teu, direct * work // used)


def _figure(sums: Sums, name: str) -> Figure:
    return sums.figures.get(name, _NONE)
