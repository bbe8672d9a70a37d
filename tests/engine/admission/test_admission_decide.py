"""Decisions with known answers: each question in its order, and what its refusal says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Action, AdmissionRequest, Decision, Reason
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

NOW = 1_000_000.0
POLICY = small_policy()


def ask(**changes: Any) -> AdmissionRequest:
    given: dict[str, Any] = {"request_id": "r1", "class_": "chat", "arrived_ms": NOW}
    return AdmissionRequest(**(given | changes))


def answer(
    request: AdmissionRequest, policy: CompiledPolicy = POLICY, state: AdmissionState | None = None
) -> Decision:
    return decide(request, state or idle_state(policy, slots=4), policy, NOW)


def busy(policy: CompiledPolicy, *remaining_ms: float) -> AdmissionState:
    """Every slot taken, each for so many milliseconds more."""
    state = idle_state(policy, slots=len(remaining_ms))
    replica = state.pools["one"].replicas["one"]
    for n, left in enumerate(remaining_ms):
        replica.dispatch(f"b{n}", left, NOW)
    return state


def test_an_idle_fleet_serves_the_requested_route() -> None:
    decision = answer(ask())
    assert (decision.action, decision.reason) == (Action.ADMIT, Reason.REQUESTED)
    assert decision.offer is not None
    assert (decision.offer.route, decision.offer.pool) == ("full", "one")
    assert decision.offer.teu == 52  # 128 / 4 + 20
    assert decision.offer.completion_ms == pytest.approx(410)  # 10 of prefill, 20 x 20 of decode


def tight(**changes: Any) -> AdmissionRequest:
    """1,000 ms left, 2,048 tokens in (160 ms), 64 wanted; a quantum of 8 tokens takes 160 ms."""
    return ask(input_tokens=2048, max_output_tokens=64, deadline_ms=1000, **changes)


def test_output_is_bounded_to_the_whole_quanta_that_fit() -> None:
    decision = answer(tight(), state=busy(POLICY, 100.0))
    assert (decision.action, decision.reason) == (Action.BOUND, Reason.BOUNDED_BY_DEADLINE)
    assert decision.offer is not None
    assert decision.offer.output_tokens == 32  # 900 - 160 = 740 ms hold 4 quanta


def test_under_the_routes_minimum_compact_serves_instead_of_a_bound() -> None:
    policy = small_policy(classes__chat__min_output_tokens=40)
    decision = answer(tight(tenant_class="standard"), policy, busy(policy, 100.0))
    assert (decision.action, decision.reason) == (Action.FALLBACK, Reason.FALLBACK_NEEDED)
    assert decision.offer is not None
    assert (decision.offer.route, decision.offer.output_tokens) == ("compact", 64)


def test_the_deadline_is_named_before_an_exhausted_share() -> None:
    policy = small_policy(
        classes__chat__min_output_tokens=40, admission__shares={"route/full": {"guaranteed": 0.5}}
    )
    state = busy(policy, 100.0)
    buckets = state.buckets(policy)
    buckets.charge((1, 0), 1, 1e9, NOW)
    state.shares[policy.digest] = buckets
    decision = answer(tight(), policy, state)
    assert decision.reason is Reason.DEADLINE_INFEASIBLE
    assert reasons(decision)["compact"] is Reason.FALLBACK_PROHIBITED
    house = full_house(policy)
    house.shares = state.shares
    assert answer(ask(), policy, house).reason is Reason.SHARE_EXHAUSTED
    assert answer(ask(), policy, idle_with(state)).offer is not None  # below the knee nothing idles


def reasons(decision: Decision) -> dict[str, Reason | None]:
    return {found.option: found.reason for found in decision.explained}


def idle_with(other: AdmissionState) -> AdmissionState:
    """An idle fleet whose shares are as used up as another's."""
    state = idle_state(POLICY, slots=4)
    state.shares = other.shares
    return state


def test_a_bound_that_the_contract_does_not_accept_is_not_offered() -> None:
    policy = small_policy(contract__accepts=[])
    assert answer(tight(), policy, busy(policy, 100.0)).reason is Reason.DEADLINE_INFEASIBLE


def test_the_post_model_reserve_stays_in_hand() -> None:
    assert answer(ask(deadline_ms=410)).action is Action.ADMIT
    policy = small_policy(contract__post_model_reserve_ms=1)
    decision = answer(ask(deadline_ms=410, class_="form"), policy)
    assert decision.reason is Reason.DEADLINE_INFEASIBLE


def test_a_preferred_fallback_goes_first_where_its_segment_allows() -> None:
    rule = {"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}
    policy = small_policy(fallback=[rule, {"deny": True, "where": {"task": "form"}}])
    eligible = answer(ask(tenant_class="standard"), policy)
    assert (eligible.action, eligible.reason) == (Action.FALLBACK, Reason.FALLBACK_PREFERRED)
    assert answer(ask(tenant_class="premium"), policy).action is Action.ADMIT
    assert answer(ask(tenant_class="standard", class_="form"), policy).action is Action.ADMIT


def test_overload_puts_compact_first_for_eligible_segments_only() -> None:
    state = idle_state(POLICY, slots=4)
    state.ladders[POLICY.digest] = Ladder(rung=4, compact=frozenset({"full"}))
    eligible = answer(ask(tenant_class="standard"), state=state)
    assert eligible.reason is Reason.FALLBACK_OVERLOAD
    assert answer(ask(tenant_class="premium"), state=state).reason is Reason.REQUESTED


def test_each_route_is_tried_once_and_the_requested_ones_reason_is_given() -> None:
    decision = answer(ask(tenant_class="standard"), state=idle_state(POLICY, slots=4, warm=False))
    assert decision.reason is Reason.NO_WARM_REPLICA
    assert list(reasons(decision)) == ["full", "full bounded", "compact"]


@pytest.mark.parametrize(
    ("changes", "reason", "status", "retryable"),
    [
        ({"class_": "unheard"}, Reason.UNKNOWN_CLASS, 422, False),
        ({"input_tokens": 20_000}, Reason.CONTEXT_WINDOW, 422, False),
        ({"input_tokens": 7_990, "deadline_ms": 9e6}, Reason.MEMORY_INFEASIBLE, 503, False),
        ({"deadline_ms": 1}, Reason.DEADLINE_INFEASIBLE, 503, False),
    ],
)
def test_each_refusal_says_whether_to_come_back(
    changes: Any, reason: Reason, status: int, retryable: bool
) -> None:
    refusal = answer(ask(**changes)).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.status, refusal.retryable) == (reason, status, retryable)
    assert refusal.after_ms is None


def test_an_unknown_class_takes_the_conservative_route_where_one_is_declared() -> None:
    policy = small_policy(admission__conservative_route="full")
    decision = answer(ask(class_="unheard", input_tokens=100, max_output_tokens=10), policy)
    assert (decision.action, decision.reason) == (Action.ADMIT, Reason.CONSERVATIVE_ROUTE)
    assert answer(ask(class_="unheard"), policy).reason is Reason.UNKNOWN_CLASS


def full_house(policy: CompiledPolicy, count: int = 4) -> AdmissionState:
    state = idle_state(policy, slots=8)
    for n in range(count):
        decision = answer(ask(request_id=f"f{n}"), policy, state)
        state.reserve(f"a{n}", decision, policy, NOW, NOW + 1000)
    return state


def test_at_the_knee_a_request_waits_and_beyond_the_queue_it_is_refused() -> None:
    state = full_house(POLICY)
    waiting = answer(ask(), state=state)
    assert waiting.offer is not None
    assert waiting.offer.wait
    policy = small_policy(admission__max_queued_teu=51)
    refusal = answer(ask(), policy, state).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.retryable) == (Reason.QUEUE_FULL, True)
    assert 200 <= (refusal.after_ms or 0) <= 2000


def test_without_a_queue_the_knee_itself_refuses() -> None:
    policy = small_policy(admission__max_queued_teu=0)
    assert answer(ask(), policy, full_house(policy)).reason is Reason.CONCURRENCY


def test_nobody_overtakes_the_queue() -> None:
    state = full_house(POLICY)
    first = answer(ask(request_id="q1"), state=state)
    assert first.offer is not None
    state.enqueue(first, POLICY)
    state.settle("a0", 5, NOW)
    late, head = (
        answer(ask(request_id="q2"), state=state),
        answer(ask(request_id="q1"), state=state),
    )
    assert late.offer is not None
    assert head.offer is not None
    assert (late.offer.wait, head.offer.wait) == (True, False)


def test_a_tenants_live_tokens_are_its_own_limit() -> None:
    policy = small_policy(admission__live_tokens__per_tenant=600)
    refusal = answer(ask(), policy, full_house(policy)).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.status) == (Reason.TENANT_LIVE_TOKENS, 429)
    assert answer(ask(tenant="other"), policy, full_house(policy)).offer is not None


requests = st.builds(
    AdmissionRequest,
    request_id=st.sampled_from(["r1", "r2"]),
    class_=st.sampled_from(["chat", "form"]),
    arrived_ms=st.just(NOW),
    tenant_class=st.sampled_from([None, "standard", "premium"]),
    input_tokens=st.integers(0, 9000),
    max_output_tokens=st.integers(1, 400),
    deadline_ms=st.floats(1, 20_000),
)
loads = st.lists(st.floats(0, 3000), min_size=1, max_size=4)


@given(requests, loads)
def test_the_same_question_has_the_same_answer(
    request: AdmissionRequest, load: list[float]
) -> None:
    assert answer(request, state=busy(POLICY, *load)) == answer(request, state=busy(POLICY, *load))


def is_over_a_limit(request: AdmissionRequest) -> bool:
    """Whether all that it asks for is more than one request, or the queue, may hold."""
    admission = POLICY.document.admission
    tokens, output = request.input_tokens or 0, request.max_output_tokens or 0
    teu = tokens / 4 + output
    return tokens + output > admission.live_tokens.per_request or teu > admission.max_queued_teu


@given(requests, loads, st.floats(0, 10_000))
def test_more_slack_never_turns_an_admission_into_a_refusal(
    request: AdmissionRequest, load: list[float], slack: float
) -> None:
    before = answer(request, state=busy(POLICY, *load))
    longer = replace(request, deadline_ms=(request.deadline_ms or 0) + slack)
    after = answer(longer, state=busy(POLICY, *load))
    if before.offer is not None and after.refusal is not None:
        # What a deadline had cut down asks for all of it with more time, which may be too much.
        assert before.action is Action.BOUND
        assert is_over_a_limit(request)


@given(requests, loads)
def test_an_admission_is_always_predicted_to_be_in_time(
    request: AdmissionRequest, load: list[float]
) -> None:
    decision = answer(request, state=busy(POLICY, *load))
    if decision.offer is not None:
        assert decision.offer.completion_ms <= decision.shape.deadline_ms + 1e-6


def test_the_wait_is_that_of_the_first_slot_that_comes_free() -> None:
    replica = busy(POLICY, 300.0, 100.0).pools["one"].replicas["one"]
    assert replica.wait_ms(NOW) == 100.0
    replica.dispatch("w", 50.0, NOW)
    assert replica.wait_ms(NOW) == 150.0
    replica.release("b1", NOW)
    assert replica.wait_ms(NOW) == 50.0
