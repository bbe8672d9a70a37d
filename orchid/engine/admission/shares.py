"""Protected shares: hierarchical token buckets in TEU a second, after the semantics of Linux HTB.

Every node has a guaranteed rate and a ceiling. A request under its own rate is served whatever
others do; over it, it borrows from the nearest ancestor that has some to spare. Rates are charged
from the lender up, so a lender is made whole within one burst. A bucket may be overdrawn by its
last request, which makes rates hold for requests of any size.

Shares settle who is served when not all can be. While the pool is below its knee the root lends
whatever its bucket says: nothing idles because a rate was used up. A ceiling holds at all times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchid.engine.document.limits import ShareNode
from orchid.engine.document.model import PolicyDocument

ROOT = 0
LEAST_BURST_S = 1.0
BACKGROUND = "background"


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
    optional = purpose in ("shadow", "profiling", "evaluation")
    return leaf == purpose or (optional and leaf == BACKGROUND)


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
    """What a node may still use as of `at_ms`, beside its bounds in TEU and TEU a millisecond."""

    index: int
    tokens: float
    ceiling_tokens: float
    at_ms: float
    rate: float
    burst: float
    ceiling: float
    ceiling_burst: float
    capped: bool

    def tokens_at(self, now_ms: float) -> float:
        """What its rate leaves at a moment; a pure read."""
        passed = max(0.0, now_ms - self.at_ms)
        return min(self.burst, self.tokens + self.rate * passed)

    def ceiling_at(self, now_ms: float) -> float:
        """What its ceiling leaves at a moment; a pure read."""
        passed = max(0.0, now_ms - self.at_ms)
        return min(self.ceiling_burst, self.ceiling_tokens + self.ceiling * passed)


class Buckets:
    """The state of a tree: one bucket a node, full until it is charged."""

    __slots__ = ("nodes", "tree")

    def __init__(self, tree: ShareTree) -> None:
        self.tree = tree
        self.nodes = [_full(index, share) for index, share in enumerate(tree.nodes)]

    def attained(self, index: int, now_ms: float) -> float:
        """What a node got lately over what it is entitled to: 1 when its burst is just used up."""
        node = self.nodes[index] if self.nodes else None
        if node is None:
            return 0.0
        return 1.0 - node.tokens_at(now_ms) / node.burst if node.burst else 1.0

    def lender(self, path: tuple[int, ...], now_ms: float, *, room: bool = False) -> int | None:
        """The node that lets a request of this path through; None when every level says no.

        With `room` the pool is below its knee, and the root lends in any case.
        """
        nodes = self.nodes
        for index in path:
            node = nodes[index]
            passed = now_ms - node.at_ms
            if passed < 0.0:
                passed = 0.0
            if node.capped and node.ceiling_tokens + node.ceiling * passed <= 0.0:
                return None
            if node.tokens + node.rate * passed > 0.0 or (room and index == ROOT):
                return index
        return None

    def charge(self, path: tuple[int, ...], lender: int, teu: float, now_ms: float) -> None:
        """Take TEU from every ceiling of the path, and from the rates from the lender up.

        A negative amount gives back what the same path and lender were charged.
        """
        nodes, lends = self.nodes, False
        for index in path:
            node = nodes[index]
            lends = lends or index == lender
            passed = now_ms - node.at_ms
            if passed > 0.0:
                node.at_ms = now_ms
                tokens = node.tokens + node.rate * passed
                node.tokens = tokens if tokens < node.burst else node.burst
                if node.capped:
                    tokens = node.ceiling_tokens + node.ceiling * passed
                    most = node.ceiling_burst
                    node.ceiling_tokens = tokens if tokens < most else most
            if node.capped:
                node.ceiling_tokens -= teu
            if lends:
                # What was lent while there was room is forgotten beyond one burst.
                tokens = node.tokens - teu
                node.tokens = tokens if tokens > -node.burst else -node.burst


def _full(index: int, share: Share) -> Bucket:
    return Bucket(
        index,
        share.burst,
        share.ceiling_burst,
        0.0,
        share.rate / 1000.0,
        share.burst,
        share.ceiling / 1000.0,
        share.ceiling_burst,
        share.capped,
    )
