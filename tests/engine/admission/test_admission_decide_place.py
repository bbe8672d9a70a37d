"""Which replica: never by dice, never one that can't serve, and each no by its own name."""

from collections import Counter
from typing import Any

import pytest

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready, Replica
from orchid.engine.admission.request import AdmissionRequest, Decision, Offer, Reason
from orchid.engine.admission.signals import Signal
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

NOW = 1_000_000.0
POLICY = small_policy()
BOTH = frozenset({"full", "compact"})


def ask(name: str = "r1", **changes: Any) -> AdmissionRequest:
    return AdmissionRequest(name, "chat", NOW, **changes)


def fleet(*ready: Ready, policy: CompiledPolicy = POLICY) -> AdmissionState:
    state = AdmissionState()
    state.replace_pools(ready, NOW)
    state.equip(policy)
    return state


def answer(state: AdmissionState, policy: CompiledPolicy = POLICY, **changes: Any) -> Decision:
    return decide(ask(**changes), state, policy, NOW)


def offered(decision: Decision) -> Offer:
    assert decision.offer is not None, decision.refusal
    return decision.offer


def replicas(state: AdmissionState) -> dict[str, Replica]:
    return state.pools["one"].replicas


def test_requests_spread_over_the_replicas_and_one_request_always_finds_the_same() -> None:
    state = idle_state(POLICY, slots=4, replicas=8)
    chosen = [offered(answer(state, name=f"r{n}")).replica for n in range(400)]
    assert chosen == [offered(answer(state, name=f"r{n}")).replica for n in range(400)]
    assert len(Counter(chosen)) == 8
    assert max(Counter(chosen).values()) < 400 / 8 * 2


def test_the_less_busy_of_two_is_taken() -> None:
    state = idle_state(POLICY, slots=4, replicas=2)
    replicas(state)["one-0"].dispatch("b", 100.0, NOW)
    assert {offered(answer(state, name=f"r{n}")).replica for n in range(50)} == {"one-1"}


def test_nobody_waits_while_any_replica_has_room() -> None:
    state = idle_state(POLICY, slots=4, replicas=9)
    for name, replica in replicas(state).items():
        for n in range(0 if name == "one-7" else 4):
            replica.dispatch(f"{name} {n}", 900.0, NOW)
    for n in range(30):
        offer = offered(answer(state, name=f"r{n}"))
        assert (offer.replica, offer.wait, offer.prediction.queue_ms) == ("one-7", False, 0.0)


def test_a_replica_without_memory_is_passed_over() -> None:
    state = idle_state(small_policy(fleet__devices=2), slots=4, replicas=2)
    replicas(state)["one-1"].live_tokens = 99_900
    policy = small_policy(fleet__devices=2)
    assert {offered(answer(state, policy, name=f"r{n}")).replica for n in range(20)} == {"one-0"}
    replicas(state)["one-0"].live_tokens = 99_900
    assert answer(state, policy).reason is Reason.MEMORY_INFEASIBLE


@pytest.mark.parametrize(
    ("ready", "reason"),
    [
        (Ready("one", "a", 2, frozenset({"compact"})), Reason.NO_WARM_REPLICA),
        (Ready("one", "a", 0, BOTH), Reason.NO_WARM_REPLICA),
        (Ready("one", "a", 2, BOTH, region="us"), Reason.NO_WARM_REPLICA),
        (Ready("one", "a", 2, BOTH, manifests={"full": "x"}), Reason.MANIFEST_INCOMPATIBLE),
        (Ready("one", "a", 2, BOTH, privacy_cells=frozenset({"b"})), Reason.PRIVACY_CELL),
    ],
)
def test_each_reason_why_no_replica_serves_is_named(ready: Ready, reason: Reason) -> None:
    assert answer(fleet(ready), region="eu", privacy_cell="a").reason is reason


def test_a_replica_of_the_right_cell_region_and_manifest_serves() -> None:
    manifests = {"full": POLICY.routes["full"].manifest}
    ready = Ready("one", "a", 2, BOTH, frozenset({"a"}), "eu", manifests)
    assert offered(answer(fleet(ready), region="eu", privacy_cell="a")).replica == "a"
    assert answer(fleet(ready), region="eu").reason is Reason.PRIVACY_CELL


def test_a_route_kept_to_some_cells_refuses_others() -> None:
    models = small_policy().document.model_dump(mode="json", by_alias=True, exclude_unset=True)
    models["models"]["full"]["privacy_cells"] = ["a"]
    policy = small_policy(models=models["models"])
    state = idle_state(policy)
    assert answer(state, policy, privacy_cell="b").reason is Reason.PRIVACY_CELL
    assert answer(state, policy).reason is Reason.PRIVACY_CELL
    assert offered(answer(state, policy, privacy_cell="a")).route == "full"


def test_an_open_breaker_takes_its_replica_out_and_all_open_refuse() -> None:
    state = idle_state(POLICY, slots=4, replicas=2)
    first, second = replicas(state).values()
    assert first.breaker is not None
    assert second.breaker is not None
    for n in range(5):
        first.breaker.note(False, f"b{n}", NOW)
    assert {offered(answer(state, name=f"r{n}")).replica for n in range(20)} == {second.name}
    for n in range(5):
        second.breaker.note(False, f"b{n}", NOW)
    refusal = answer(state).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.status, refusal.retryable) == (Reason.BREAKER_OPEN, 503, True)


SIGNALS = {"fresh": "1s", "hold": "5s", "penalty": "50ms", "floor_per_replica": 2}
TOLD = small_policy(admission__signals=SIGNALS)


@pytest.mark.parametrize(
    ("age_ms", "standing", "queue_ms"), [(500, "fresh", 30), (3000, "held", 80), (9000, "stale", 0)]
)
def test_a_signal_counts_by_its_age(age_ms: float, standing: str, queue_ms: float) -> None:
    state = idle_state(TOLD, slots=4)
    replicas(state)["one"].signal = Signal(NOW - age_ms, 30.0)
    offer = offered(answer(state, TOLD))
    assert (offer.signal, offer.signal_age_ms, offer.prediction.queue_ms) == (
        standing,
        age_ms,
        queue_ms,
    )


def test_a_replica_that_never_spoke_runs_its_safe_floor_and_no_more() -> None:
    state = idle_state(TOLD, slots=4)
    for n in range(2):
        decision = answer(state, TOLD, name=f"b{n}")
        assert offered(decision).signal == "none"
        state.reserve(f"b{n}", decision, TOLD, NOW, NOW + 1000)
    refusal = answer(state, TOLD).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.budget) == (Reason.SIGNALS_STALE, "signals")


def test_an_unknown_replica_ranks_behind_a_known_one_that_is_busier() -> None:
    state = idle_state(TOLD, slots=4, replicas=2)
    known = replicas(state)["one-0"]
    known.signal = Signal(NOW, 0.0)
    known.dispatch("b", 100.0, NOW)
    assert {offered(answer(state, TOLD, name=f"r{n}")).replica for n in range(20)} == {"one-0"}


AFFINE = small_policy(admission__affinity={"hot_at": 0.5})


def test_one_prefix_of_one_tenant_always_goes_to_one_replica() -> None:
    state = idle_state(AFFINE, slots=4, replicas=6)
    for prefix in ("p", "q", "s"):
        found = {
            offered(answer(state, AFFINE, name=f"r{n}", prefix=prefix, tenant="acme")).replica
            for n in range(20)
        }
        assert len(found) == 1
    tenants = {
        offered(answer(state, AFFINE, prefix="p", tenant=f"t{n}")).replica for n in range(60)
    }
    assert len(tenants) == 6  # the key holds the tenant


def test_a_replica_that_goes_moves_only_its_own_prefixes() -> None:
    state = idle_state(AFFINE, slots=4, replicas=6)

    def homes() -> dict[str, str]:
        return {f"p{n}": offered(answer(state, AFFINE, prefix=f"p{n}")).replica for n in range(60)}

    before = homes()
    ready = [Ready("one", f"one-{n}", 4, BOTH) for n in range(5)]
    state.replace_pools(ready, NOW)
    moved = {prefix for prefix, home in homes().items() if home != before[prefix]}
    assert moved == {prefix for prefix, home in before.items() if home == "one-5"}


def test_a_hot_replica_gives_its_prefix_to_another() -> None:
    state = idle_state(AFFINE, slots=4, replicas=6)
    home = offered(answer(state, AFFINE, prefix="p")).replica
    for n in range(2):  # half of its limit of 4
        replicas(state)[home].dispatch(f"b{n}", 100.0, NOW)
    others = {offered(answer(state, AFFINE, name=f"r{n}", prefix="p")).replica for n in range(40)}
    assert home not in others


def test_lanes_that_share_no_route_never_wait_for_each_other() -> None:
    policy = small_policy(admission__concurrency__per_replica=1)
    one, two = frozenset({"full"}), frozenset({"compact"})
    state = fleet(Ready("one", "a", 1, one), Ready("one", "b", 1, two), policy=policy)
    first = answer(state, policy)
    state.reserve("a0", first, policy, NOW, NOW + 1000)
    waiting = answer(state, policy, name="w", deadline_ms=5000)
    assert offered(waiting).wait
    state.enqueue(waiting, policy)
    rescued = answer(state, policy, name="r2", tenant_class="standard", deadline_ms=250)
    assert (offered(rescued).route, offered(rescued).wait) == ("compact", False)
