"""Many replicas that come and go: what is held on each is always the sum of what is live there."""

from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import AdmissionRequest, Reason
from tests.small_policy import small_policy

DEVICE_TOKENS = 3000
NAMES = ("a", "b", "c")
WARM = st.sampled_from([frozenset({"full", "compact"}), frozenset({"compact"})])
POLICY = small_policy(
    admission__concurrency__per_replica=3,
    admission__live_tokens={
        "per_device": DEVICE_TOKENS,
        "per_tenant": 5000,
        "per_request": 2500,
    },
    fleet__devices=3,
    admission__shares={"tenant_class/standard": {"guaranteed": 0.5}},
    budgets=[{"tenant": "acme", "window": "5s", "max_teu": 9000}],
)


class Replicas(RuleBasedStateMachine):
    """Requests of two classes and two tenants over replicas that appear, vanish and restart."""

    slots = 2  # fewer than the knee: some wait behind the slots

    def __init__(self) -> None:
        super().__init__()
        self.state, self.now, self.count = idle_state(POLICY, slots=self.slots), 1e6, 0
        self.up: dict[str, frozenset[str]] = {}
        self.appear([frozenset({"full", "compact"})] * len(NAMES), len(NAMES))

    @rule(warm=st.lists(WARM, min_size=3, max_size=3), count=st.integers(0, 3))
    def appear(self, warm: list[frozenset[str]], count: int) -> None:
        self.up = dict(zip(NAMES[:count], warm, strict=False))
        ready = [Ready("one", n, self.slots, routes, devices=1) for n, routes in self.up.items()]
        self.state.replace_pools(ready, self.now)
        self.state.equip(POLICY)

    @rule(
        cls=st.sampled_from(["chat", "form"]),
        tenant=st.sampled_from(["acme", "other"]),
        tokens=st.integers(1, 2600),
        privacy=st.sampled_from([None, "eu"]),
    )
    def ask(self, cls: str, tenant: str, tokens: int, privacy: str | None) -> None:
        self.count += 1
        request = AdmissionRequest(
            request_id=f"r{self.count}",
            class_=cls,
            arrived_ms=self.now,
            tenant=tenant,
            tenant_class="standard",
            privacy_cell=privacy,
            input_tokens=0,
            max_output_tokens=tokens,
            deadline_ms=1e9,
        )
        decision = decide(request, self.state, POLICY, self.now)
        assert decide(request, self.state, POLICY, self.now) == decision
        offer = decision.offer
        if offer is None:
            self._refused_for_a_reason(decision.reason)
        elif offer.wait:
            fits = [r for r in self._warm(offer.route) if r.in_flight < POLICY.knee]
            assert all(r.live_tokens + offer.live_tokens > DEVICE_TOKENS for r in fits)
        else:
            replica = self.state.pools["one"].replicas[offer.replica]
            assert offer.route in self.up[offer.replica]
            assert replica.in_flight < POLICY.knee
            assert replica.live_tokens + offer.live_tokens <= DEVICE_TOKENS
            name = f"r{self.count}"
            self.state.reserve(name, decision, POLICY, self.now, self.now + 3_000)

    def _warm(self, route: str) -> list[Any]:
        replicas = self.state.pools["one"].replicas
        return [replicas[name] for name, routes in self.up.items() if route in routes]

    def _refused_for_a_reason(self, reason: Reason) -> None:
        nowhere = not self._warm("full")
        assert (reason is Reason.NO_WARM_REPLICA) == nowhere

    @precondition(lambda self: self.count)
    @rule(data=st.data(), used=st.integers(0, 2600), cancel=st.booleans())
    def end(self, data: Any, used: int, cancel: bool) -> None:
        name = f"r{data.draw(st.integers(1, self.count))}"
        if cancel:
            self.state.cancel_undispatched(name, self.now)
        else:
            self.state.settle(name, used, self.now)

    @rule(passed=st.integers(0, 4_000))
    def wait(self, passed: int) -> None:
        self.now += passed
        self.state.expire(self.now)

    @precondition(lambda self: self.up)
    @rule(data=st.data())
    def restart(self, data: Any) -> None:
        self.state.restarted("one", data.draw(st.sampled_from(sorted(self.up))))

    @invariant()
    def totals_are_sums(self) -> None:
        pool, live = self.state.pools["one"], self.state.live.values()
        assert pool.live_tokens == sum(held.offer.live_tokens for held in live)
        tenants: Counter[str] = Counter()
        routes: Counter[str] = Counter()
        for held in live:
            tenants[held.tenant] += held.offer.live_tokens
            routes[held.offer.route] += held.offer.live_tokens
        assert dict(self.state.tenants) == dict(tenants)
        assert {n: h.live_tokens for n, h in pool.held.items() if h.live_tokens} == dict(routes)

    @invariant()
    def every_replica_runs_only_what_is_live(self) -> None:
        for replica in self.state.pools["one"].replicas.values():
            ids = replica.running.keys() | replica.waiting.keys()
            assert ids <= self.state.live.keys()
            assert replica.running.keys().isdisjoint(replica.waiting)
            held = sum(self.state.live[name].offer.live_tokens for name in ids)
            assert replica.live_tokens == held
            if replica.slots:
                assert len(replica.running) <= self.slots
                assert replica.in_flight <= POLICY.knee


class LargeReplicas(Replicas):
    """More slots than the knee lets in."""

    slots = 5


TestReplicas = Replicas.TestCase
TestLargeReplicas = LargeReplicas.TestCase
TestReplicas.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestLargeReplicas.settings = TestReplicas.settings
