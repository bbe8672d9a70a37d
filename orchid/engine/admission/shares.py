"""Protected shares: hierarchical token buckets in TEU a second, after the semantics of Linux HTB.

Every node has a guaranteed rate and a ceiling. A request under its own rate is served whatever
others do; over it, it borrows from the nearest ancestor that has some to spare. Rates are charged
from the lender up, so a lender is made whole within one burst. A bucket may be overdrawn by its
last request, which makes rates hold for requests of any size.

Shares settle who is served when not all can be. While the pool is below its knee the root lends
whatever its bucket says: nothing idles because a rate was used up. A ceiling holds at all times.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from orchid.engine.document.limits import ShareNode
from orchid.engine.document.model import PolicyDocument

ROOT = 0
LEAST_BURST_S = 1.0


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

        `belongs` says the request's value of each level: region, pool, tenant_class, tenant, route.
        """
        if not self.nodes:
            return ()
        path = [ROOT]
        while (child := self._child(path[-1], belongs)) is not None:
            path.append(child)
        return tuple(reversed(path))

    def _child(self, node: int, belongs: Mapping[str, str | None]) -> int | None:
        for child in self.nodes[node].children:
            level, _, name = self.nodes[child].name.partition("/")
            if name and belongs.get(level) == name:
                return child
        return None


def share_tree(document: PolicyDocument) -> ShareTree:
    """Fractions of parents made absolute. The root is the fleet's safe rate.

    A burst is what the bounded queue may hold, in each node's proportion, and a second's rate at
    least.
    """
    declared, fleet = document.admission.shares, document.fleet
    if not declared:
        return ShareTree()
    rate = float(fleet.devices * fleet.raw_teu_per_s * fleet.safe_factor)
    burst_s = max(LEAST_BURST_S, float(document.admission.max_queued_teu) / rate)
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
    """What a node may still use, as of a moment."""

    tokens: float
    ceiling_tokens: float
    at_ms: float


@dataclass(slots=True)
class Buckets:
    """The state of a tree. A node that was never charged is full and has no entry."""

    tree: ShareTree
    held: dict[int, Bucket] = field(default_factory=dict)

    def at(self, node: int, now_ms: float) -> Bucket:
        """The bucket as it stands now; a pure read."""
        share, held = self.tree.nodes[node], self.held.get(node)
        if held is None:
            return Bucket(share.burst, share.ceiling_burst, now_ms)
        passed_s = max(0.0, now_ms - held.at_ms) / 1000.0
        return Bucket(
            min(share.burst, held.tokens + share.rate * passed_s),
            min(share.ceiling_burst, held.ceiling_tokens + share.ceiling * passed_s),
            max(now_ms, held.at_ms),
        )

    def lender(self, path: tuple[int, ...], now_ms: float, *, room: bool = False) -> int | None:
        """The node that lets a request of this path through; None when every level says no.

        With `room` the pool is below its knee, and the root lends in any case.
        """
        for node in path:
            bucket = self.at(node, now_ms)
            if self.tree.nodes[node].capped and bucket.ceiling_tokens <= 0:
                return None
            if bucket.tokens > 0 or (room and node == ROOT):
                return node
        return None

    def charge(self, path: tuple[int, ...], lender: int, teu: float, now_ms: float) -> None:
        """Take TEU from every ceiling of the path, and from the rates from the lender up.

        A negative amount gives back what the same path and lender were charged.
        """
        for node, lends in _lending(path, lender):
            bucket, share = self.at(node, now_ms), self.tree.nodes[node]
            bucket.ceiling_tokens -= teu
            # What was lent while there was room is forgotten beyond one burst.
            bucket.tokens = max(bucket.tokens - (teu if lends else 0.0), -share.burst)
            self.held[node] = bucket


def _lending(path: tuple[int, ...], lender: int) -> Iterator[tuple[int, bool]]:
    lends = False
    for node in path:
        lends = lends or node == lender
        yield node, lends
