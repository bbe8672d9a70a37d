"""Shares beside a slow reference: the same lenders, and the laws of shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.admission.shares import Buckets
from tests.engine.admission.reference_model import (
    MILLI,
    ROOT,
    Charge,
    Node,
    SlowShares,
    tree_of,
)
from tests.small_policy import small_policy

RATE = 8192  # TEU a second: eighths of eighths of eighths of it are whole
Tree = dict[str, Any]
Belongs = dict[str, str]


def test_the_reference_itself_fills_lends_and_stops_at_a_ceiling() -> None:
    nodes = tree_of({"region/eu": {"guaranteed": 0.5, "ceiling": 0.75}}, RATE)
    shares, eu = SlowShares(nodes), nodes[(ROOT, "region/eu")]
    path = shares.path({"region": "eu"})
    assert [node.path[-1] for node in path] == ["region/eu", ROOT]
    shares.charges.append(Charge(0, path, eu, 5000 * MILLI))  # its burst is 4,096
    assert shares.tokens(eu, 0) == (4096 - 5000) * MILLI
    assert shares.lender(path, 0) == nodes[(ROOT,)]
    assert shares.lender(path, 221) == eu  # 904 TEU at 4.096 a millisecond
    shares.charges.append(Charge(221, path, nodes[(ROOT,)], 6000 * MILLI))
    assert shares.lender(path, 221) is None  # 6,144 burst, 11,000 taken, 1,357 filled
    assert shares.tokens(eu, 60_000) == 4096 * MILLI


# Random trees: two regions, each perhaps with tenant classes, those perhaps with a tenant.


def eighths(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(low, high).map(lambda n: n / 8)


@st.composite
def levels(draw: Any, names: tuple[str, ...], below: tuple[tuple[str, ...], ...]) -> Tree:
    left, tree = 8, {}
    for name in names:
        share = draw(st.integers(0, left))
        left -= share
        node: Tree = {"guaranteed": share / 8}
        if draw(st.booleans()):
            node["ceiling"] = draw(eighths(max(1, share), 8))
        if below and draw(st.booleans()):
            node["children"] = draw(levels(below[0], below[1:]))
        tree[name] = node
    return tree


TREES = levels(
    ("region/eu", "region/us"),
    (("tenant_class/premium", "tenant_class/standard"), ("tenant/acme",)),
)
BELONGS = st.fixed_dictionaries(
    {
        "region": st.sampled_from(["eu", "us"]),
        "tenant_class": st.sampled_from(["premium", "standard"]),
        "tenant": st.sampled_from(["acme", "other"]),
    }
)


@dataclass
class Both:
    """The tree under test and the reference, asked and charged alike."""

    declared: Tree
    slow: SlowShares = field(init=False)
    fast: Buckets = field(init=False)

    def __post_init__(self) -> None:
        self.slow = SlowShares(tree_of(self.declared, RATE))
        policy = small_policy(
            admission__shares=self.declared,
            admission__max_queued_teu=1,
            fleet__raw_teu_per_s=RATE,
        )
        self.fast = Buckets(policy.shares)
        self.now_ms = 0

    def ask(self, belongs: Belongs, teu: int, *, room: bool) -> Charge | None:
        """Both must name one lender, which both then charge."""
        fast_path, path = self.fast.tree.path(belongs), self.slow.path(belongs)
        names = [self.fast.tree.nodes[index].name for index in fast_path]
        assert names == [node.path[-1] for node in path]
        lender = self.slow.lender(path, self.now_ms, room=room)
        index = self.fast.lender(fast_path, float(self.now_ms), room=room)
        if not self.is_a_tie(path):
            assert (index is None) == (lender is None)
            assert index is None or fast_path.index(index) == path.index(lender)
        if index is None:
            return None
        return self.charge(belongs, fast_path.index(index), teu)

    def charge(self, belongs: Belongs, depth: int, teu: int) -> Charge:
        fast_path, path = self.fast.tree.path(belongs), self.slow.path(belongs)
        self.fast.charge(fast_path, fast_path[depth], float(teu), float(self.now_ms))
        charge = Charge(self.now_ms, path, path[depth], teu * MILLI)
        self.slow.charges.append(charge)
        return charge

    def is_a_tie(self, path: tuple[Node, ...]) -> bool:
        """Exactly nothing left somewhere: the last digit of a binary fraction may say either."""
        now = self.now_ms
        return any(
            self.slow.tokens(node, now) == 0
            or (node.capped and not self.slow.ceiling_tokens(node, now))
            for node in path
        )


ASKS = st.lists(
    st.tuples(
        BELONGS,
        st.integers(1, 2_000) | st.integers(1, 12_000),  # over a burst too
        st.just(0) | st.integers(0, 400) | st.integers(0, 2_500),
        st.booleans(),
        st.integers(0, 100),
    ),
    min_size=10,
    max_size=60,
)


@settings(max_examples=80, deadline=None)
@given(TREES, ASKS)
def test_every_request_borrows_from_the_node_that_the_reference_names(
    tree: Tree, asks: Any
) -> None:
    both, taken = Both(tree), []
    for belongs, teu, passed_ms, room, back in asks:
        both.now_ms += passed_ms
        charge = both.ask(belongs, teu, room=room)
        if charge is not None:
            taken.append((belongs, charge.path.index(charge.lender), teu * back // 100))
        if taken and back % 3 == 0:  # some settle, late and in any order
            belongs, depth, unused = taken.pop(back % len(taken))
            both.charge(belongs, depth, -unused)


# The laws, over every window of a run in which some parties always want more than there is.

TICK_MS, TICKS, SIZE = 40, 100, 400  # 10,000 TEU a second are wanted by each, 8,192 are there


@dataclass
class Run:
    """TEU served under each node, added up by tick, and which parties were asking."""

    shares: SlowShares
    served: Mapping[tuple[str, ...], list[int]]
    asking: Mapping[int, list[Belongs]]  # by tick

    def between(self, node: Node, begin: int, end: int) -> int:
        total = self.served[node.path]
        return total[end] - total[begin]

    def below(self, node: Node) -> list[Node]:
        nodes = self.shares.nodes.items()
        return [one for path, one in nodes if path[:-1][: len(node.path)] == node.path]

    def always_asking(self, begin: int, end: int) -> list[tuple[Node, ...]]:
        """Paths of those who asked in every tick of the window."""
        ticks = [self.asking[tick] for tick in range(begin, end)]
        return [self.shares.path(party) for party in ticks[0] if all(party in t for t in ticks)]


def run_of(tree: Tree, first: list[Belongs], then: list[Belongs]) -> Run:
    """`first` ask alone for a while, then `then` do."""
    both = Both(tree)
    counts = {path: [0] * TICKS for path in both.slow.nodes}
    asking = {tick: first if tick < TICKS // 2 else then for tick in range(TICKS)}
    fast, slow = both.fast, both.slow
    for tick, parties in asking.items():
        for party in parties:
            path, now = fast.tree.path(party), float(tick * TICK_MS)
            lender = fast.lender(path, now)
            if lender is not None:
                fast.charge(path, lender, float(SIZE), now)
                for node in slow.path(party):
                    counts[node.path][tick] += SIZE
    sums = {path: [0, *accumulate(count)] for path, count in counts.items()}
    return Run(slow, sums, asking)


PARTIES = st.lists(BELONGS, min_size=1, max_size=4, unique_by=lambda party: tuple(party.values()))
RUNS = st.builds(run_of, TREES, PARTIES, PARTIES)
WINDOWS = [(b, e) for b in range(0, TICKS, 5) for e in range(b + 5, TICKS + 1, 5)]


def milliseconds(begin: int, end: int) -> int:
    return (end - begin) * TICK_MS


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_who_keeps_asking_gets_his_rate_from_the_first_tick_on(run: Run) -> None:
    """Even when all of it was lent a moment before: he waits for a request's debt a level, and
    for what those below him took of it in a burst."""
    for begin, end in WINDOWS:
        for path in run.always_asking(begin, end):
            leaf = path[0]
            sure = min([leaf.rate, *(node.ceiling for node in path if node.capped)])
            debt = SIZE * len(path) + sum(node.rate for node in run.below(leaf))
            least = sure * (milliseconds(begin, end) - TICK_MS) / 1000 - debt
            assert run.between(leaf, begin, end) >= least, (leaf, begin, end)


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_a_ceiling_holds_over_every_window_but_for_bursts(run: Run) -> None:
    """Its own burst, and those of levels below: under their own rates they ask no ceiling above."""
    for node in run.shares.nodes.values():
        bursts = node.ceiling + sum(one.rate for one in run.below(node)) + SIZE * 4
        for begin, end in WINDOWS:
            allowed = node.ceiling * milliseconds(begin, end) / 1000 + bursts
            got = run.between(node, begin, end)
            assert not node.capped or got <= allowed, (node, begin, end)


@settings(max_examples=60, deadline=None)
@given(TREES, BELONGS)
def test_one_who_asks_alone_gets_all_that_his_ceilings_allow(tree: Tree, party: Belongs) -> None:
    run = run_of(tree, [party], [party])
    path = run.shares.path(party)
    possible = min([RATE, *(node.ceiling for node in path if node.capped)])
    for begin, end in WINDOWS:
        least = possible * (milliseconds(begin, end) - TICK_MS) / 1000 - SIZE * len(path)
        assert run.between(path[-1], begin, end) >= least, (begin, end)


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_the_fleet_is_lent_once_and_bursts_are_all_that_goes_beyond(run: Run) -> None:
    root = run.shares.nodes[(ROOT,)]
    bursts = sum(node.rate for node in run.shares.nodes.values())
    for begin, end in WINDOWS:
        allowed = RATE * milliseconds(begin, end) / 1000 + bursts + SIZE * 4
        assert run.between(root, begin, end) <= allowed
