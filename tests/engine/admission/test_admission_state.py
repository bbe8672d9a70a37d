"""Reservations are exact: each ends once, everything taken comes back, nothing is taken twice."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from orchid.engine.admission.budgets import ATOMS, Account, Budgets, Usage, atoms
from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import AdmissionRequest, Decision, Reason
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

NOW = 1_000_000.0
ONE_BUDGET = {"tenant": "acme", "window": "1d", "max_teu": 1000}


def asked(
    state: AdmissionState, policy: CompiledPolicy, name: str, now: float = NOW, **given: Any
) -> Decision:
    shape = {"class_": "chat", "tenant": "acme", "input_tokens": 0, "max_output_tokens": 400}
    request = AdmissionRequest(
        **{"request_id": name, "arrived_ms": now, "deadline_ms": 1e6, **shape, **given}
    )
    return decide(request, state, policy, now)


def admit(state: AdmissionState, policy: CompiledPolicy, name: str) -> Decision:
    """Decide and, when admitted, reserve under the request's own name."""
    decision = asked(state, policy, name)
    if decision.offer is not None:
        state.reserve(name, decision, policy, NOW, NOW + 60_000)
    return decision


def accounts(state: AdmissionState) -> list[Account]:
    windows = state.budgets.windows.values()
    return [account for window in windows for account in window.accounts.values()]


def five_against_one() -> tuple[AdmissionState, CompiledPolicy, list[Decision]]:
    policy = small_policy(budgets=[ONE_BUDGET], admission__concurrency__per_replica=100)
    state = idle_state(policy, slots=8)
    return state, policy, [admit(state, policy, f"r{n}") for n in range(5)]


def test_of_five_at_once_exactly_two_fit_and_settling_low_admits_one_more() -> None:
    state, policy, decisions = five_against_one()
    assert [d.offer is not None for d in decisions] == [True, True, False, False, False]
    refusal = decisions[2].refusal
    assert refusal is not None
    assert (refusal.reason, refusal.status) == (Reason.BUDGET_EXHAUSTED, 429)
    assert not refusal.retryable
    assert refusal.after_ms == 86_400_000 - NOW  # when its window ends
    state.settle("r0", 250, NOW)
    state.settle("r1", 250, NOW)
    (account,) = accounts(state)
    assert account.teu == 500 * ATOMS
    assert [admit(state, policy, f"s{n}").offer is not None for n in range(2)] == [True, False]


def test_cancelling_before_dispatch_gives_all_of_it_back() -> None:
    state, _, _ = five_against_one()
    state.cancel_undispatched("r0", NOW)
    state.cancel_undispatched("r1", NOW)
    (account,) = accounts(state)
    assert account.teu == 0


def test_a_request_refused_by_one_limit_consumes_no_other() -> None:
    policy = small_policy(
        budgets=[ONE_BUDGET, {**ONE_BUDGET, "window": "1h", "max_teu": 300}],
        admission__shares={"route/full": {"guaranteed": 1}},
    )
    state = idle_state(policy, slots=8)
    assert admit(state, policy, "r0").reason is Reason.BUDGET_EXHAUSTED
    assert not state.live
    assert not accounts(state)
    assert not state.shares


def test_a_new_window_starts_empty() -> None:
    policy = small_policy(budgets=[{**ONE_BUDGET, "window": "10s", "max_teu": 400}])
    state = idle_state(policy, slots=8)
    admit(state, policy, "r0")
    assert asked(state, policy, "r1", NOW + 9_999).offer is None
    assert asked(state, policy, "r1", NOW + 10_000).offer is not None


def test_of_four_at_once_two_fit_a_nearly_spent_dollar_budget() -> None:
    price = {"input_usd_per_million": 0, "output_usd_per_million": "221"}  # 400 are $0.0884
    policy = small_policy(
        prices={"full": price},
        budgets=[{"tenant": "acme", "window": "1d", "max_usd": "5"}],
        admission__concurrency__per_replica=100,
    )
    state = idle_state(policy, slots=8)
    spent = state.budgets.reserve(policy.caps["acme"], "acme", Usage(usd=Decimal("4.752720")), NOW)
    decisions = [admit(state, policy, f"r{n}") for n in range(4)]
    assert [d.offer is not None for d in decisions] == [True, True, False, False]
    assert decisions[2].reason is Reason.BUDGET_EXHAUSTED
    assert spent[0].usd == Decimal("4.929520")


def test_an_external_route_is_charged_its_dollars() -> None:
    price = {"input_usd_per_million": "2", "output_usd_per_million": "10"}
    policy = small_policy(
        prices={"full": price}, budgets=[{"tenant": "acme", "window": "1d", "max_usd": "0.005"}]
    )
    state = idle_state(policy, slots=8)
    assert admit(state, policy, "r0").offer is not None  # 400 x 10 / 1,000,000 = 0.004
    assert admit(state, policy, "r1").reason is Reason.BUDGET_EXHAUSTED
    state.settle("r0", 100, NOW)
    assert admit(state, policy, "r1").offer is not None


def test_an_attempt_ends_once_and_its_id_is_never_used_again() -> None:
    policy = small_policy()
    state = idle_state(policy, slots=1)
    decision = admit(state, policy, "r0")
    assert state.settle("r0", 10, NOW) is not None
    assert state.settle("r0", 10, NOW) is None
    assert state.cancel_undispatched("r0", NOW) is None
    with pytest.raises(ValueError, match="can't be reserved"):
        state.reserve("r0", decision, policy, NOW, NOW)


def test_an_expired_reservation_is_charged_in_full() -> None:
    state, _, _ = five_against_one()
    assert {held.attempt_id for held in state.expire(NOW + 60_000)} == {"r0", "r1"}
    assert state.expire(NOW + 60_000) == []
    (account,) = accounts(state)
    assert account.teu == 800 * ATOMS


def test_a_pool_that_flaps_never_counts_below_nothing() -> None:
    policy = small_policy()
    state = idle_state(policy, slots=2)
    for name in ("r0", "r1", "r2"):
        admit(state, policy, name)
    state.replace_pools([], NOW)
    assert asked(state, policy, "r3").reason is Reason.NO_WARM_REPLICA
    state.settle("r0", 1, NOW)
    state.replace_pools([Ready("one", "one", 2, frozenset({"full"}))], NOW)
    replica = state.pools["one"].replicas["one"]
    assert (set(replica.running), set(replica.waiting)) == ({"r1", "r2"}, set())
    state.settle("r1", 1, NOW)
    state.settle("r2", 1, NOW)
    assert replica.in_flight == 0


class Interleavings(RuleBasedStateMachine):
    """Any order of admissions, endings and repeats keeps the books closed."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = small_policy(
            budgets=[{**ONE_BUDGET, "max_teu": 5000}],
            admission__concurrency__per_replica=3,
            admission__shares={"route/full": {"guaranteed": 0.5}},
        )
        self.state, self.count, self.now = idle_state(self.policy, slots=2), 0, NOW
        self.spent = 0

    @rule(wanted=st.integers(1, 600))
    def admit(self, wanted: int) -> None:
        self.count += 1
        name = f"r{self.count}"
        decision = asked(self.state, self.policy, name, self.now, max_output_tokens=wanted)
        if decision.offer is not None and not decision.offer.wait:
            self.state.reserve(name, decision, self.policy, self.now, self.now + 5_000)

    @precondition(lambda self: self.count)
    @rule(data=st.data(), used=st.integers(0, 600))
    def settle(self, data: st.DataObject, used: int) -> None:
        name = f"r{data.draw(st.integers(1, self.count))}"
        if self.state.settle(name, used, self.now) is not None:
            self.spent += used * ATOMS

    @precondition(lambda self: self.count)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.state.cancel_undispatched(f"r{data.draw(st.integers(1, self.count))}", self.now)

    @rule(passed=st.integers(0, 6_000))
    def wait(self, passed: int) -> None:
        self.now += passed
        ended = self.state.expire(self.now)
        self.spent += sum(held.offer.output_tokens for held in ended) * ATOMS

    @invariant()
    def the_books_close(self) -> None:
        reserved = sum(atoms(held.offer.teu) for held in self.state.live.values())
        assert sum(account.teu for account in accounts(self.state)) == self.spent + reserved
        replica = self.state.pools["one"].replicas["one"]
        assert replica.running.keys() | replica.waiting.keys() == self.state.live.keys()
        assert replica.running.keys().isdisjoint(replica.waiting)
        assert len(replica.running) <= replica.slots
        assert not any(name in self.state.ended for name in self.state.live)


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


@given(st.lists(st.decimals(0, 100, places=4), max_size=20), st.decimals(0, 500, places=4))
def test_a_budget_is_never_promised_beyond_its_cap(asks: list[Decimal], cap: Decimal) -> None:
    policy = small_policy(budgets=[{**ONE_BUDGET, "max_teu": str(cap)}])
    held, caps = Budgets(), policy.caps["acme"]
    for amount in asks:
        usage = Usage(teu=atoms(amount))
        if held.exhausted(caps, "acme", usage, NOW) is None:
            held.reserve(caps, "acme", usage, NOW)
    assert held.account(86_400_000, "acme", NOW).teu <= atoms(cap)
