"""Shares and reservations by the book and slowly: every answer is worked out from all of history.

Nothing is remembered but what happened. A bucket is what replaying its charges leaves, a total is a
sum over what is live, so there is no running figure that could drift. All amounts are whole
thousandths of a TEU and all times whole milliseconds: a TEU a second is one of them a millisecond,
and no rounding can hide a fault.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ROOT = "fleet"
MILLI = 1000
LEAST_BURST_MS = 1000


@dataclass(frozen=True)
class Node:
    """One level: TEU a second that it is sure of and may reach; its path from the root."""

    path: tuple[str, ...]
    rate: int
    ceiling: int
    capped: bool


@dataclass(frozen=True)
class Charge:
    """TEU/1000 taken from the ceilings of `path`, and from the rates from the lender up."""

    at_ms: int
    path: tuple[Node, ...]
    lender: Node
    amount: int


def tree_of(declared: Mapping[str, Any], rate: int) -> dict[tuple[str, ...], Node]:
    """Absolute rates of a declared tree, whose fractions must come out whole."""
    root = Node((ROOT,), rate, rate, capped=False)
    nodes: dict[tuple[str, ...], Node] = {root.path: root}

    def grow(parent: Node, children: Mapping[str, Any]) -> None:
        for name, child in children.items():
            share, ceiling = child["guaranteed"], child.get("ceiling", 1.0)
            own, most = parent.rate * share, parent.ceiling * ceiling
            assert own == int(own), "use fractions that come out whole"
            assert most == int(most), "use fractions that come out whole"
            node = Node((*parent.path, name), int(own), int(most), ceiling < 1.0)
            nodes[node.path] = node
            grow(node, child.get("children", {}))

    grow(root, declared)
    return nodes


@dataclass
class SlowShares:
    """A share tree that knows its charges and nothing else. A bucket holds one second's rate."""

    nodes: Mapping[tuple[str, ...], Node]
    charges: list[Charge] = field(default_factory=list)

    def path(self, belongs: Mapping[str, str]) -> tuple[Node, ...]:
        """From the deepest node of a request up to the root."""
        found = [self.nodes[(ROOT,)]]
        while child := self._child(found[-1], belongs):
            found.append(child)
        return tuple(reversed(found))

    def _child(self, parent: Node, belongs: Mapping[str, str]) -> Node | None:
        for level, value in belongs.items():
            if child := self.nodes.get((*parent.path, f"{level}/{value}")):
                return child
        return None

    def tokens(self, node: Node, now_ms: int) -> int:
        """What the node's rate leaves it; at most a burst, in debt by at most a burst."""
        burst, left, at_ms = node.rate * LEAST_BURST_MS, node.rate * LEAST_BURST_MS, 0
        for charge in self.charges:
            if node in charge.path[charge.path.index(charge.lender) :]:
                left = min(burst, left + node.rate * (charge.at_ms - at_ms)) - charge.amount
                left, at_ms = max(left, -burst), charge.at_ms
        return min(burst, left + node.rate * (now_ms - at_ms))

    def ceiling_tokens(self, node: Node, now_ms: int) -> int:
        """What the node's ceiling leaves it, whoever lent."""
        burst, left, at_ms = node.ceiling * LEAST_BURST_MS, node.ceiling * LEAST_BURST_MS, 0
        for charge in self.charges:
            if node in charge.path:
                left = min(burst, left + node.ceiling * (charge.at_ms - at_ms)) - charge.amount
                at_ms = charge.at_ms
        return min(burst, left + node.ceiling * (now_ms - at_ms))

    def lender(self, path: tuple[Node, ...], now_ms: int, *, room: bool = False) -> Node | None:
        """The first node upwards with something left; nobody past an exhausted ceiling."""
        for node in path:
            if node.capped and self.ceiling_tokens(node, now_ms) <= 0:
                return None
            if self.tokens(node, now_ms) > 0 or (room and node.path == (ROOT,)):
                return node
        return None


@dataclass(frozen=True)
class Limits:
    """The ceilings that the books are kept against, in tokens, TEU and milliseconds."""

    per_request: int
    per_tenant: int
    of_pool: int
    knee: int
    queued_teu: int
    budgets: tuple[tuple[str, int, int], ...]  # tenant, window, TEU


@dataclass
class Held:
    """One attempt, live until `ended` says what it used."""

    tenant: str
    teu: int
    at_ms: int
    expires_ms: int
    path: tuple[Node, ...]
    lender: Node
    used: int | None = None

    @property
    def live(self) -> bool:
        return self.used is None


@dataclass
class SlowBooks:
    """Every attempt that was ever admitted. One TEU is one reserved token here."""

    limits: Limits
    shares: SlowShares
    held: dict[str, Held] = field(default_factory=dict)

    def answer(self, tenant: str, teu: int, belongs: Mapping[str, str], now_ms: int) -> str:
        """`admit`, `wait`, or the reason of the first question that says no."""
        limits, live = self.limits, [held for held in self.held.values() if held.live]
        of_tenant = sum(held.teu for held in live if held.tenant == tenant)
        if teu > limits.per_request:
            return "memory_infeasible"
        if of_tenant + teu > limits.per_tenant:
            return "tenant_live_tokens"
        if sum(held.teu for held in live) + teu > limits.of_pool:
            return "memory_infeasible"
        if any(self._promised(b, now_ms) + teu > b[2] for b in limits.budgets if b[0] == tenant):
            return "budget_exhausted"
        wait = len(live) >= limits.knee
        if self.shares.lender(self.shares.path(belongs), now_ms, room=not wait) is None:
            return "share_exhausted"
        if wait and teu > limits.queued_teu:
            return "queue_full"
        return "wait" if wait else "admit"

    def _promised(self, budget: tuple[str, int, int], now_ms: int) -> int:
        """What attempts that were reserved in the window of now hold, or have used."""
        tenant, window_ms, _ = budget
        return sum(
            held.teu if held.used is None else held.used
            for held in self.held.values()
            if held.tenant == tenant and held.at_ms // window_ms == now_ms // window_ms
        )

    def reserve(
        self, name: str, tenant: str, teu: int, belongs: Mapping[str, str], now_ms: int, life: int
    ) -> None:
        path = self.shares.path(belongs)
        lender = self.shares.lender(path, now_ms, room=True)
        assert lender is not None
        self.held[name] = Held(tenant, teu, now_ms, now_ms + life, path, lender)
        self.shares.charges.append(Charge(now_ms, path, lender, teu * MILLI))

    def end(self, name: str, used: int, now_ms: int) -> bool:
        """Settle once; False when the attempt is not live."""
        held = self.held.get(name)
        if held is None or not held.live:
            return False
        held.used = used
        back = (used - held.teu) * MILLI
        self.shares.charges.append(Charge(now_ms, held.path, held.lender, back))
        return True

    def expire(self, now_ms: int) -> set[str]:
        """End those that are past their own expiry, charged in full."""
        due = {n for n, held in self.held.items() if held.live and held.expires_ms <= now_ms}
        for name in due:
            self.end(name, self.held[name].teu, now_ms)
        return due
