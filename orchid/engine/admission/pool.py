"""A pool of replicas: who is warm for what, which of them share work, and what is held in all."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from orchid.engine.admission.order import AdmissionQueue
from orchid.engine.admission.replica import Ready, Replica
from orchid.engine.admission.request import Reason

PLACES_REMEMBERED = 1024


@dataclass(slots=True, eq=False)
class Lane:
    """Replicas that share warm routes, directly or through others, and their one queue.

    Routes of different lanes never compete for a slot, so none waits behind the other.
    """

    replicas: tuple[Replica, ...]
    queue: AdmissionQueue = field(default_factory=AdmissionQueue)

    def wait_ms(self, now_ms: float, request_id: str = "") -> float:
        """Predicted wait for a slot behind all that runs, and all in front in the queue."""
        ahead_ms = self.queue.ahead(request_id).service_ms
        if ahead_ms <= 0.0:
            return min((replica.wait_ms(now_ms) for replica in self.replicas), default=float("inf"))
        ends = sorted(chain.from_iterable(r.slot_ends(now_ms) for r in self.replicas))
        return _filled(ends, ahead_ms) - now_ms if ends else float("inf")


def _filled(ends: list[float], work_ms: float) -> float:
    """The moment up to which slots that are free from `ends` on can do so much work."""
    total = 0.0
    for count, end in enumerate(ends):
        if count * end - total >= work_ms:
            return (work_ms + total) / count
        total += end
    return (work_ms + total) / len(ends)


@dataclass(slots=True, eq=False)
class Group:
    """Replicas that may serve one route for one region and privacy cell."""

    replicas: tuple[Replica, ...]
    lane: Lane


@dataclass(slots=True)
class Held:
    """What the reservations of one route hold in a pool."""

    live_tokens: int = 0
    sequences: int = 0


@dataclass(slots=True, eq=False)
class Pool:
    """Replicas by name, and the totals of what is reserved on them."""

    name: str
    replicas: dict[str, Replica] = field(default_factory=dict)
    live_tokens: int = 0
    held: dict[str, Held] = field(default_factory=dict)  # by route
    lanes: tuple[Lane, ...] = ()
    plain: bool = True  # no replica is set apart, so a route alone says who may serve it
    by_route: dict[str, Group] = field(default_factory=dict)
    _groups: dict[tuple[str, str, str | None, str | None], Group | Reason] = field(
        default_factory=dict
    )

    @property
    def slots(self) -> int:
        return sum(replica.slots for replica in self.replicas.values())

    @property
    def in_flight(self) -> int:
        return sum(replica.in_flight for replica in self.replicas.values())

    def lane(self, route: str) -> Lane | None:
        """Where requests of a route wait; None when it is warm nowhere."""
        group = self.by_route.get(route)
        return group.lane if group else None

    def wait_ms(self, now_ms: float) -> float:
        """The longest predicted wait of its lanes."""
        return max((lane.wait_ms(now_ms) for lane in self.lanes), default=float("inf"))

    def queued_teu(self) -> float:
        return sum(lane.queue.queued_teu for lane in self.lanes)

    def hold(self, route: str, live_tokens: int) -> None:
        """One more sequence of a route, and its tokens."""
        held = self.held.get(route)
        if held is None:
            held = self.held[route] = Held()
        held.sequences += 1
        held.live_tokens += live_tokens
        self.live_tokens += live_tokens

    def free(self, route: str, live_tokens: int) -> None:
        """One sequence less, and its tokens."""
        held = self.held[route]
        held.sequences -= 1
        held.live_tokens -= live_tokens
        self.live_tokens -= live_tokens

    def replace(self, ready: Iterable[Ready], now_ms: float) -> None:
        """Take over which replicas are ready; one that is gone stays until its attempts ended."""
        come = {replica.name: replica for replica in ready}
        gone = [name for name in self.replicas if name not in come]
        for name, description in come.items():
            self.replicas.setdefault(name, Replica(name)).become(description, now_ms)
        for name in gone:
            if self.replicas[name].in_flight:
                self.replicas[name].become(Ready(self.name, name, 0), now_ms)
            else:
                del self.replicas[name]
        self.arrange()

    def restart(self, name: str) -> None:
        """Put an empty replica in the place of one; reservations keep hold of the one they had."""
        before = self.replicas[name]
        fresh = self.replicas[name] = Replica(name)
        fresh.become(before, 0.0)
        fresh.breaker, fresh.limiter = before.breaker, before.limiter
        self.arrange()

    def teu_ahead(self, route: str, request_id: str) -> float:
        """Queued work before a request of the route: of its own lane, and all of the others."""
        lane, others = self.lane(route), self.queued_teu()
        if lane is None:
            return others
        return others - lane.queue.queued_teu + lane.queue.ahead(request_id).teu

    def arrange(self) -> None:
        """Find lanes and groups afresh after replicas came, went or changed.

        A lane of the same replicas keeps its queue. Whoever waited elsewhere asks again.
        """
        before = {lane.replicas: lane.queue for lane in self.lanes}
        up = [replica for replica in self.replicas.values() if replica.slots > 0]
        self.lanes = tuple(
            Lane(members, before.get(members) or AdmissionQueue()) for members in _components(up)
        )
        self.plain = not any(r.privacy_cells or r.region or r.manifests for r in up)
        self.by_route = {
            route: Group(tuple(r for r in lane.replicas if route in r.warm), lane)
            for lane in self.lanes
            for route in sorted({route for r in lane.replicas for route in r.warm})
        }
        self._groups.clear()

    def group(
        self, route: str, manifest: str, region: str | None, privacy_cell: str | None
    ) -> Group | Reason:
        """The replicas for this place, or the reason why there are none."""
        key = (route, manifest, region, privacy_cell)
        found = self._groups.get(key)
        if found is None:
            found = self._found(*key)
            if len(self._groups) >= PLACES_REMEMBERED:
                self._groups.clear()
            self._groups[key] = found
        return found

    def _found(
        self, route: str, manifest: str, region: str | None, privacy_cell: str | None
    ) -> Group | Reason:
        warm = self.by_route.get(route)
        if warm is None:
            return Reason.NO_WARM_REPLICA
        right = [r for r in warm.replicas if r.manifests.get(route, manifest) == manifest]
        if not right:
            return Reason.MANIFEST_INCOMPATIBLE
        near = [r for r in right if r.region is None or r.region == region]
        if not near:
            return Reason.NO_WARM_REPLICA
        open_to = [r for r in near if not r.privacy_cells or privacy_cell in r.privacy_cells]
        return Group(tuple(open_to), warm.lane) if open_to else Reason.PRIVACY_CELL


def _components(replicas: Iterable[Replica]) -> list[tuple[Replica, ...]]:
    """Replicas joined by shared warm routes, in the order of their first members."""
    found: list[tuple[list[Replica], set[str]]] = []
    for replica in replicas:
        joined: tuple[list[Replica], set[str]] = ([replica], set(replica.warm))
        apart = []
        for members, routes in found:
            if routes & replica.warm:
                joined = (members + joined[0], routes | joined[1])
            else:
                apart.append((members, routes))
        found = [*apart, joined]
    return [tuple(members) for members, _ in found]
