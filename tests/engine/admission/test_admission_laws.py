"""Laws over whole states: deciding moves nothing, room refuses nobody, books can be rebuilt."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from orchid.engine.admission.budgets import ATOMS
from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

NOW = 1_000_000.0
LIMITS: dict[str, Any] = {
    "admission__concurrency__per_replica": 3,
    "admission__max_queued_teu": 300,
    "admission__live_tokens": {"per_device": 4000, "per_tenant": 6000, "per_request": 3000},
    "fleet__devices": 3,
    "budgets": [{"tenant": "*", "window": "10s", "max_teu": 4000, "max_live_token_ms": 10**9}],
    "admission__shares": {"tenant_class/standard": {"guaranteed": 0.5, "ceiling": 0.75}},
}
FIRST = small_policy(**LIMITS)
SECOND = small_policy(**LIMITS, contract__post_model_reserve_ms=5)


def asked(name: str, draw: Any) -> AdmissionRequest:
    return AdmissionRequest(
        name,
        draw(st.sampled_from(["chat", "form"])),
        NOW,
        draw(st.sampled_from(["acme", "other"])),
        tenant_class=draw(st.sampled_from(["standard", "premium"])),
        input_tokens=draw(st.integers(0, 2500)),
        max_output_tokens=draw(st.integers(1, 100)),
        deadline_ms=draw(st.floats(50, 9000)),
    )


def loaded(draw: Any, policy: CompiledPolicy = FIRST) -> AdmissionState:
    """Three replicas of two slots with some attempts on them and some requests in the queue."""
    state = idle_state(policy, slots=2, replicas=3)
    for n in range(draw(st.integers(0, 12))):
        decision = decide(asked(f"b{n}", draw), state, policy, NOW)
        if decision.offer is None:
            continue
        if decision.offer.wait:
            state.enqueue(decision, policy)
        else:
            state.reserve(f"b{n}", decision, policy, NOW, NOW + draw(st.integers(1, 9000)))
    return state


def same(one: Decision, other: Decision) -> bool:
    """Equal to the last bit, but for the compiled cell that both only refer to."""
    bare = (replace(d.shape, cell=other.shape.cell) for d in (one, other))
    first, second = bare
    return replace(one, shape=first) == replace(other, shape=second)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_decision_moves_nothing_and_has_no_memory(data: st.DataObject) -> None:
    state = loaded(data.draw)
    request = asked(data.draw(st.sampled_from(["r1", "r2", "b3"])), data.draw)
    before = totals(state)
    first = decide(request, state, FIRST, NOW)
    for n in range(3):
        decide(asked(f"x{n}", data.draw), state, FIRST, NOW)
    assert totals(state) == before
    again = decide(request, copy.deepcopy(state), small_policy(**LIMITS), NOW)
    assert same(first, again)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_more_slack_and_more_free_capacity_never_refuse_who_was_admitted(
    data: st.DataObject,
) -> None:
    state, request = loaded(data.draw), asked("r", data.draw)
    decision = decide(request, state, FIRST, NOW)
    if decision.offer is None:
        return
    longer = replace(
        request, deadline_ms=(request.deadline_ms or 0) + data.draw(st.floats(0, 5000))
    )
    assert decide(longer, state, FIRST, NOW).offer is not None
    if state.live:
        state.settle(data.draw(st.sampled_from(sorted(state.live))), 0, NOW)
        assert decide(request, state, FIRST, NOW).offer is not None


def totals(state: AdmissionState) -> Any:
    """Every running total, as the state keeps it."""
    return (
        {name: pool.live_tokens for name, pool in state.pools.items()},
        {
            (name, route): (held.live_tokens, held.sequences)
            for name, pool in state.pools.items()
            for route, held in pool.held.items()
            if held.sequences
        },
        {r.name: r.live_tokens for pool in state.pools.values() for r in pool.replicas.values()},
        dict(state.tenants),
        sorted(state.live),
        [sorted(r.running | r.waiting) for p in state.pools.values() for r in p.replicas.values()],
    )


def summed(state: AdmissionState) -> Any:
    """The same totals, summed over the live reservations alone."""
    pools: dict[str, int] = dict.fromkeys(state.pools, 0)
    routes: dict[tuple[str, str], tuple[int, int]] = {}
    replicas = {r.name: 0 for pool in state.pools.values() for r in pool.replicas.values()}
    on: dict[str, list[str]] = {name: [] for name in replicas}
    tenants: dict[str, int] = {}
    for held in state.live.values():
        offer, key = held.offer, (held.offer.pool, held.offer.route)
        pools[offer.pool] += offer.live_tokens
        tokens, count = routes.get(key, (0, 0))
        routes[key] = (tokens + offer.live_tokens, count + 1)
        tenants[held.tenant] = tenants.get(held.tenant, 0) + offer.live_tokens
        if held.replica is state.pools[offer.pool].replicas.get(offer.replica):
            replicas[offer.replica] += offer.live_tokens
            on[offer.replica].append(held.attempt_id)
    return (pools, routes, replicas, tenants, sorted(state.live), [sorted(on[r]) for r in replicas])


class Books(RuleBasedStateMachine):
    """Any order of moves, restarts of replicas, two generations and crashes keeps every total."""

    def __init__(self) -> None:
        super().__init__()
        self.state, self.count, self.now, self.used = (
            idle_state(FIRST, slots=2, replicas=3),
            0,
            NOW,
            0,
        )

    @rule(data=st.data(), policy=st.sampled_from([FIRST, SECOND]))
    def admit(self, data: st.DataObject, policy: CompiledPolicy) -> None:
        self.count += 1
        request = replace(asked(f"r{self.count}", data.draw), arrived_ms=self.now)
        decision = decide(request, self.state, policy, self.now)
        if decision.offer is not None and not decision.offer.wait:
            due = self.now + data.draw(st.integers(1, 5000))
            self.state.reserve(f"r{self.count}", decision, policy, self.now, due)

    @precondition(lambda self: self.count)
    @rule(data=st.data(), used=st.integers(0, 100), undone=st.booleans())
    def end(self, data: st.DataObject, used: int, undone: bool) -> None:
        name = f"r{data.draw(st.integers(1, self.count))}"
        was_live = name in self.state.live
        if undone:
            ended = self.state.cancel_undispatched(name, self.now)
        else:
            ended = self.state.settle(name, used, self.now)
        assert (ended is not None) == was_live
        assert self.state.settle(name, used, self.now) is None

    @rule(passed=st.integers(0, 4000))
    def wait(self, passed: int) -> None:
        self.now += passed
        due = {name for name, held in self.state.live.items() if held.expires_ms <= self.now}
        assert {held.attempt_id for held in self.state.expire(self.now)} == due

    @rule(name=st.sampled_from(["one-0", "one-1", "one-2"]))
    def a_replica_restarts_empty(self, name: str) -> None:
        self.state.restarted("one", name)

    @rule()
    def the_process_dies_and_rebuilds_from_its_records(self) -> None:
        kept = list(self.state.live.values())
        self.state = idle_state(FIRST, slots=2, replicas=3)
        for held in kept:
            self.state.reserve(
                held.attempt_id, held.decision, held.policy, held.reserved_ms, held.expires_ms
            )

    @invariant()
    def totals_are_sums_over_what_is_live(self) -> None:
        assert totals(self.state) == summed(self.state)

    @invariant()
    def no_budget_is_promised_beyond_its_cap(self) -> None:
        for window in self.state.budgets.windows.values():
            assert all(0 <= account.teu <= (4000) * ATOMS for account in window.accounts.values())

    def teardown(self) -> None:
        for name in list(self.state.live):
            self.state.settle(name, 0, self.now)
        assert not self.state.tenants
        assert all(pool.live_tokens == 0 for pool in self.state.pools.values())


TestBooks = Books.TestCase
TestBooks.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


def test_a_reservation_settles_by_the_generation_it_was_admitted_under() -> None:
    dear = small_policy(**LIMITS, demand__model_factor={"full": 3, "compact": 1})
    state = idle_state(FIRST, slots=2)
    request = AdmissionRequest("r", "form", NOW, "acme", input_tokens=0, max_output_tokens=40)
    state.reserve("a", decide(request, state, FIRST, NOW), FIRST, NOW, NOW + 1000)
    later = replace(request, request_id="r2")
    state.reserve("b", decide(later, state, dear, NOW), dear, NOW, NOW + 1000)
    assert state.budgets.account(10_000, "acme", NOW).teu == (40 + 120) * ATOMS
    for name in ("a", "b"):
        state.settle(name, 10, NOW)
    assert state.budgets.account(10_000, "acme", NOW).teu == (10 + 30) * ATOMS
    assert set(state.shares) == {FIRST.digest, dear.digest}
