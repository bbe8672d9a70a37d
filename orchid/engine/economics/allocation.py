"""Who an hour of a pool was spent for, by the document's rule.

* direct: the part of the devices that requests kept busy, by the work of each;
* reserve: the headroom that the safe factor keeps back, as far as it was not used;
* residency: the rest of the devices. They stood ready for routes, and a route's part is laid on
  the requests that it served; what stood ready for a route that served none is the price of the
  promise that it can;
* common: hosts, storage, network, control, validation and observability;
* external: what attempts outside the pool stated or the price table says;
* investment: what a pool costs beyond its direct work while it is only tried.

Dollars are whole parts of 1e-12, shared by largest remainder, so that what is laid on requests,
promise and investment is the ledger to the last part.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Allocation
from orchid.engine.economics.ledger import PoolHour, parts_of_usd

#: In the place of a route: a promise that nobody made use of in that hour.
NOBODY = ""


class Consumer(NamedTuple):
    """Requests of one key in one hour of a pool; work is in parts of `orchid.engine.rollup`."""

    key: Hashable
    requests: int
    successes: int
    work: int
    route: str | None = None
    """None where the key says nothing of routes, as a tenant's does."""
    external: int = 0
    """Parts of dollars."""
    is_shadow: bool = False


@dataclass(slots=True)
class Charge:
    """Parts of dollars laid on one key."""

    direct: int = 0
    residency: int = 0
    reserve: int = 0
    common: int = 0
    external: int = 0

    @property
    def total(self) -> int:
        return self.direct + self.residency + self.reserve + self.common + self.external

    def add(self, other: "Charge") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Allocated:
    """What was laid on keys, and what was laid on none; together the ledger."""

    charges: dict[Hashable, Charge] = field(default_factory=dict)
    promise: Counter[str] = field(default_factory=Counter)
    """By route; under NOBODY what an hour without requests kept ready."""
    investment: int = 0

    @property
    def total(self) -> int:
        laid = sum(charge.total for charge in self.charges.values())
        return laid + self.promise.total() + self.investment

    def of(self, key: Hashable) -> Charge:
        return self.charges.setdefault(key, Charge())

    def add(self, other: "Allocated") -> None:
        for key, charge in other.charges.items():
            self.of(key).add(charge)
        self.promise.update(other.promise)
        self.investment += other.investment


class Capacity(NamedTuple):
    """What the work is a part of, in the same unit; `by` names the unit."""

    by: str
    work: int


def allocate(
    hour: PoolHour, consumers: Sequence[Consumer], capacity: Capacity, working: Iterable[str]
) -> Allocated:
    """Lay one hour of a pool on the requests that it served; `working` routes served some."""
    rule, found = hour.document.allocation, Allocated()
    paying = [one for one in consumers if not one.is_shadow]
    direct = _direct(hour, consumers, capacity, found)
    rest = hour.devices_parts - direct
    invested = _part(rest, hour.invested.devices_usd, hour.devices_parts)
    reserve = min(rest - invested, parts_of_usd(hour.live.headroom_usd))
    invested_overhead = min(hour.overhead_parts, parts_of_usd(hour.invested.overhead_usd))
    common = hour.overhead_parts - invested_overhead
    if rule.investment == "common":
        common += invested + invested_overhead
    else:
        found.investment += invested + invested_overhead
    _ready(found, hour.document, paying, rest - invested - reserve, frozenset(working))
    _share(found, "reserve", paying, reserve, rule.reserve)
    _share(found, "common", paying, common, rule.common)
    for one in paying:
        found.of(one.key).external += one.external
    found.investment += sum(one.external for one in consumers if one.is_shadow)
    return found


def split(parts: int, weights: Sequence[int]) -> list[int]:
    """Whole parts by weight, which sum to exactly `parts`: the largest remainders get one more.

    Raises ValueError where no weight is over 0.
    """
    whole = sum(weights)
    if whole <= 0:
        raise ValueError("something must have a weight")
    shares = [divmod(parts * weight, whole) for weight in weights]
    found = [share for share, _ in shares]
    missing = parts - sum(found)
    for place in sorted(range(len(weights)), key=lambda n: (-shares[n][1], n))[:missing]:
        found[place] += 1
    return found


def residency_weights(document: PolicyDocument, rule: Allocation) -> dict[str, int]:
    """What the devices that stand ready hold, by route; equal where the document doesn't say."""
    if rule.residency == "replicas" and document.fleet.replicas:
        return dict(document.fleet.replicas)
    if rule.residency == "weights":
        sizes = {name: model.weights_gib for name, model in document.models.items()}
        known = {name: round(size * 10**6) for name, size in sizes.items() if size}
        if len(known) == len(sizes):
            return known
    return dict.fromkeys(document.models, 1)


def kept_busy(hour: PoolHour, used: int, capacity: Capacity) -> int:
    """Parts of the devices' dollars that so much work kept busy; over the capacity it is all."""
    return hour.devices_parts * used // max(used, capacity.work, 1)


def _direct(
    hour: PoolHour, consumers: Sequence[Consumer], capacity: Capacity, found: Allocated
) -> int:
    """Lay the busy part of the devices by work."""
    work = [one.work for one in consumers]
    direct = kept_busy(hour, sum(work), capacity)
    if not direct:
        return 0
    for one, parts in zip(consumers, split(direct, work), strict=True):
        if one.is_shadow:
            found.investment += parts
        else:
            found.of(one.key).direct += parts
    return direct


def _ready(
    found: Allocated,
    document: PolicyDocument,
    paying: Sequence[Consumer],
    parts: int,
    working: frozenset[str],
) -> None:
    weights = residency_weights(document, document.allocation)
    each = dict(zip(weights, split(parts, list(weights.values())), strict=True))
    for route, share in each.items():
        mine = [one for one in paying if one.work and one.route == route]
        anybody = [one for one in paying if one.work and one.route is None]
        if mine or (anybody and route in working):
            _lay(found, "residency", mine or anybody, share, "teu")
        else:
            found.promise[route] += share


def _share(found: Allocated, line: str, paying: Sequence[Consumer], parts: int, by: str) -> None:
    """By the rule's weight; by requests where nobody has any, and on nobody without requests."""
    asking = [one for one in paying if one.requests]
    if asking:
        _lay(found, line, asking, parts, by)
    else:
        found.promise[NOBODY] += parts


def _lay(found: Allocated, line: str, some: Sequence[Consumer], parts: int, by: str) -> None:
    weights = [_weight(one, by) for one in some]
    if not any(weights):
        weights = [one.requests for one in some]
    for one, share in zip(some, split(parts, weights), strict=True):
        charge = found.of(one.key)
        setattr(charge, line, getattr(charge, line) + share)


def _weight(one: Consumer, by: str) -> int:
    weights: Mapping[str, int] = {
        "requests": one.requests,
        "teu": one.work,
        "successes": one.successes,
        "equal": 1,
    }
    return weights[by]


def _part(parts: int, of: Decimal, whole: int) -> int:
    """The same part of `parts` that `of` dollars are of `whole` parts."""
    return parts * parts_of_usd(of) // whole if whole else 0
