"""Protected shares: hierarchical token buckets in TEU a second, after the semantics of Linux HTB.

Every node has a guaranteed rate and a ceiling. A request under its own rate is served whatever
others do; over it, it borrows from the nearest ancestor that has some to spare. Rates are charged
from the lender up, so a lender is made whole within one burst. A bucket may be overdrawn by its
last request, which makes rates hold for requests of any size.

Shares settle who is served when not all can be. While the pool is below its knee the root lends
whatever its bucket says: nothing idles because a rate was used up. A ceiling holds at all times.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.document.demand import OPTIONAL_PURPOSES
from orchid.engine.document.limits import ShareNode
from orchid.engine.document.model import PolicyDocument

ROOT = 0
LEAST_BURST_S = 1.0
BACKGROUND = "background"
TREMBLES_MS = 1_000.0  # a clock that goes back by more was put back


@dataclass(frozen=True, slots=True)
class Share:
    """One node: rates in TEU a second, bursts in TEU."""

    name: str
    parent: int | None
    rate: float
    ceiling: float
    burst: float
    ceiling_burst: float
    capped: bool  # declares a ceiling below its parent's
    children: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ShareTree:
    """The document's shares with absolute rates; without nodes when it declares none."""

    nodes: tuple[Share, ...] = ()

    def path(self, belongs: Mapping[str, str | None]) -> tuple[int, ...]:
        """From the deepest node that a request belongs to up to the root.

        `belongs` says the request's value of each level: region, pool, tenant_class, tenant, route;
        and its purpose, which is what a node without a level is named after.
        """
        if not self.nodes:
            return ()
        path = [ROOT]
        while (child := self._child(path[-1], belongs)) is not None:
            path.append(child)
        return tuple(reversed(path))

    def values(self, level: str) -> frozenset[str]:
        """The values of a level that have a node of their own."""
        parts = (share.name.partition("/") for share in self.nodes)
        return frozenset(name for found, slash, name in parts if slash and found == level)

    def _child(self, node: int, belongs: Mapping[str, str | None]) -> int | None:
        for child in self.nodes[node].children:
            level, slash, name = self.nodes[child].name.partition("/")
            if belongs.get(level) == name if slash else _is_for(level, belongs.get("purpose")):
                return child
        return None


def _is_for(leaf: str, purpose: str | None) -> bool:
    """Whether a node without a level takes this purpose; `background` takes all optional work."""
    return leaf == purpose or (leaf == BACKGROUND and purpose in OPTIONAL_PURPOSES)


def share_tree(document: PolicyDocument, part: Slice = WHOLE) -> ShareTree:
    """Fractions of parents made absolute. The root is the edge's part of the fleet's safe rate.

    A burst is what the bounded queue may hold, in each node's proportion, and a second's rate at
    least.
    """
    declared, fleet = document.admission.shares, document.fleet
    if not declared:
        return ShareTree()
    fleet_rate = float(fleet.devices * fleet.raw_teu_per_s * fleet.safe_factor)
    burst_s = max(LEAST_BURST_S, float(document.admission.max_queued_teu) / fleet_rate)
    rate = part.rate(fleet_rate)
    nodes = [Share("fleet", None, rate, rate, rate * burst_s, rate * burst_s, capped=False)]
    _grow(nodes, ROOT, declared, burst_s)
    return ShareTree(tuple(nodes))


def _grow(
    nodes: list[Share], parent: int, declared: Mapping[str, ShareNode], burst_s: float
) -> None:
    """Append the children of a node, each followed by its own, and enter them at the node."""
    children = []
    for name, child in declared.items():
        rate = nodes[parent].rate * child.guaranteed
        ceiling = nodes[parent].ceiling * child.ceiling
        capped, here = child.ceiling < 1.0, len(nodes)
        nodes.append(Share(name, parent, rate, ceiling, rate * burst_s, ceiling * burst_s, capped))
        _grow(nodes, here, child.children, burst_s)
        children.append(here)
    nodes[parent] = replace(nodes[parent], children=tuple(children))


@dataclass(slots=True)
class Bucket:
    """A node's two buckets, its rate's and its ceiling's, each kept as the moment of being full.

    A bucket that is full at `full_ms` lacks `(full_ms - now) / ms_per_teu`, and is empty when that
    is a burst. One number, which needs no refilling as time goes by.
    """

    full_ms: float
    ms_per_teu: float
    burst_ms: float
    capped: bool
    ceiling_full_ms: float
    ceiling_ms_per_teu: float
    ceiling_burst_ms: float

    def tokens_at(self, now_ms: float) -> float:
        """TEU that its rate leaves at a moment; negative when overdrawn."""
        if not self.ms_per_teu:
            return 0.0
        return (self.burst_ms - max(0.0, self.full_ms - now_ms)) / self.ms_per_teu


class Buckets:
    """The state of a tree: one bucket a node, full until it is charged.

    `moved_ms` is the moment of the last charge. Time before it stands still, so that a clock that
    trembles refills nothing; a clock that was put back takes the buckets with it.
    """

    __slots__ = ("moved_ms", "nodes", "tree")

    def __init__(self, tree: ShareTree) -> None:
        self.tree, self.moved_ms = tree, -math.inf
        self.nodes = [_full(share) for share in tree.nodes]

    def attained(self, index: int, now_ms: float) -> float:
        """What a node got lately over what it is entitled to: 1 when its burst is just used up."""
        if not self.nodes or not self.nodes[index].ms_per_teu:
            return 1.0 if self.nodes else 0.0
        node = self.nodes[index]
        return max(0.0, node.full_ms - max(now_ms, self.moved_ms)) / node.burst_ms

    def lender(self, path: tuple[int, ...], now_ms: float, *, room: bool = False) -> int | None:
        """The node that lets a request of this path through; None when every level says no.

        With `room` the pool is below its knee, and the root lends in any case.
        """
        nodes = self.nodes
        if now_ms < self.moved_ms:
            now_ms = self.moved_ms
        for index in path:
            node = nodes[index]
            if node.capped and node.ceiling_full_ms - now_ms >= node.ceiling_burst_ms:
                return None
            if node.full_ms - now_ms < node.burst_ms or (room and index == ROOT):
                return index
        return None

    def charge(self, path: tuple[int, ...], lender: int, teu: float, now_ms: float) -> None:
        """Take TEU from every ceiling of the path, and from the rates from the lender up.

        A negative amount gives back what the same path and lender were charged.
        """
        if now_ms < self.moved_ms:
            now_ms = self._clock_back(now_ms)
        self.moved_ms = now_ms
        nodes, lends = self.nodes, False
        for index in path:
            node = nodes[index]
            if node.capped:
                full_ms = node.ceiling_full_ms
                since_ms = full_ms if full_ms > now_ms else now_ms
                node.ceiling_full_ms = since_ms + teu * node.ceiling_ms_per_teu
            if lends or index == lender:
                lends = True
                full_ms = node.full_ms
                full_ms = (full_ms if full_ms > now_ms else now_ms) + teu * node.ms_per_teu
                # What was lent while there was room is forgotten beyond one burst.
                latest_ms = now_ms + 2.0 * node.burst_ms
                node.full_ms = full_ms if full_ms < latest_ms else latest_ms

    def _clock_back(self, now_ms: float) -> float:
        """The moment to go by; every bucket lacks what it lacked when the clock was put back."""
        back_ms = self.moved_ms - now_ms
        if back_ms <= TREMBLES_MS:
            return self.moved_ms
        for node in self.nodes:
            node.full_ms -= back_ms
            node.ceiling_full_ms -= back_ms
        return now_ms


def _full(share: Share) -> Bucket:
    ms_per_teu, burst_ms = _times(share.rate, share.burst)
    return Bucket(
        0.0, ms_per_teu, burst_ms, share.capped, 0.0, *_times(share.ceiling, share.ceiling_burst)
    )


def _times(rate: float, burst: float) -> tuple[float, float]:
    """Milliseconds that a TEU takes at a rate, and that its burst does; without a rate, never."""
    return (1000.0 / rate, burst * 1000.0 / rate) if rate > 0.0 else (0.0, -math.inf)
