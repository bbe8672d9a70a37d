"""What gives way under load, and what waits for a later run: caps, rungs, deferral, retries."""

from typing import Any

import pytest
from msgspec.structs import replace

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Action, AdmissionRequest, Decision, Reason
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_document, small_policy

NOW = 1_000_000.0
DEFERRAL = {"deadline": "1h", "max_queue_age": "10m", "after": "30s"}


def classes(**extra: Any) -> dict[str, Any]:
    """The small document's classes, with more said of `form`."""
    found: dict[str, Any] = small_document()["classes"]
    return {**found, "form": {**found["form"], **extra}}


def form(name: str = "r1", **changes: Any) -> AdmissionRequest:
    return AdmissionRequest(name, "form", NOW, **changes)


def under(policy: CompiledPolicy, slots: int = 4, **rung: Any) -> AdmissionState:
    state = idle_state(policy, slots=slots)
    state.ladders[policy.digest] = Ladder(**rung)
    return state


def refused(decision: Decision) -> tuple[Reason, int, bool]:
    assert decision.refusal is not None
    return decision.refusal.reason, decision.refusal.status, decision.refusal.retryable


@pytest.mark.parametrize("purpose", ["shadow", "profiling", "evaluation"])
def test_the_first_rung_stops_optional_work_and_nothing_else(purpose: str) -> None:
    policy = small_policy(classes=classes(purpose=purpose))
    state = under(policy, rung=1, stops_optional=True)
    assert refused(decide(form(), state, policy, NOW)) == (Reason.OVERLOAD, 503, True)
    assert decide(replace(form(), class_="chat"), state, policy, NOW).offer is not None
    assert decide(form(), idle_state(policy), policy, NOW).offer is not None


def test_the_third_rung_caps_optional_output_and_says_so() -> None:
    policy = small_policy(classes=classes(capped_output_tokens=12))
    state = under(policy, rung=3, capped=frozenset({"full"}))
    offer = decide(form(), state, policy, NOW).offer
    assert offer is not None
    assert (offer.action, offer.reason) == (Action.BOUND, Reason.OUTPUT_CAPPED)
    assert offer.output_tokens == 12
    assert offer.teu == 44
    short = decide(form(max_output_tokens=8), state, policy, NOW).offer
    assert short is not None
    assert (short.action, short.output_tokens) == (Action.ADMIT, 8)


def test_no_output_is_capped_where_the_contract_takes_no_bound() -> None:
    policy = small_policy(classes=classes(capped_output_tokens=12), contract__accepts=[])
    state = under(policy, rung=3, capped=frozenset({"full"}))
    assert decide(form(), state, policy, NOW).action is Action.ADMIT


def test_the_last_rung_refuses_what_would_have_to_wait() -> None:
    policy = small_policy()
    state = under(policy, rung=5, refuses_waiting=True)
    for n in range(4):
        decision = decide(form(f"b{n}"), state, policy, NOW)
        state.reserve(f"b{n}", decision, policy, NOW, NOW + 1000)
    assert refused(decide(form(), state, policy, NOW)) == (Reason.OVERLOAD, 503, True)


def test_background_work_waits_for_nothing_in_overload() -> None:
    policy = small_policy(
        classes=classes(purpose="background"),
        admission__concurrency__per_replica=1,
        admission__shares={"background": {"guaranteed": 0, "ceiling": 0.2}},
    )
    state = under(policy, rung=1)
    first = decide(form(), state, policy, NOW)
    assert first.offer is not None
    assert [policy.shares.nodes[n].name for n in first.offer.path] == ["background", "fleet"]
    assert policy.shares.nodes[first.offer.lender].name == "fleet"  # its own rate is nothing
    state.reserve("a", first, policy, NOW, NOW + 1000)
    assert refused(decide(form("r2", deadline_ms=5000), state, policy, NOW))[0] is Reason.OVERLOAD


def test_control_work_has_its_own_leaf() -> None:
    shares = {"control": {"guaranteed": 0.1}, "route/full": {"guaranteed": 0.9}}
    policy = small_policy(classes=classes(purpose="control"), admission__shares=shares)
    offer = decide(form(), idle_state(policy), policy, NOW).offer
    assert offer is not None
    assert [policy.shares.nodes[n].name for n in offer.path] == ["control", "fleet"]


ASYNC = small_policy(
    classes=classes(interactive=False, deferral=DEFERRAL), admission__concurrency__per_replica=1
)


def deferred(request: AdmissionRequest, state: AdmissionState, now: float = NOW) -> Decision:
    decision = decide(request, state, ASYNC, now)
    assert decision.action is Action.DEFER, decision
    assert decision.reason is Reason.DEFERRED
    return decision


def test_async_work_that_can_not_be_done_in_time_comes_back_later() -> None:
    decision = deferred(form(deadline_ms=100), idle_state(ASYNC))
    assert decision.deferral is not None
    assert decision.deferral.id == "r1"
    assert 30_000 <= decision.deferral.after_ms < 31_800  # its own wait, and the policy's jitter
    assert decision.deferral.until_ms == NOW + 600_000  # the age bound comes before the deadline
    (why, *_) = decision.explained
    assert (why.option, why.reason) == ("full", Reason.DEADLINE_INFEASIBLE)


def test_the_second_rung_puts_async_work_off_and_leaves_the_rest() -> None:
    state = under(ASYNC, rung=2, defers_async=True)
    assert deferred(form(), state).explained[0].reason is Reason.OVERLOAD
    assert decide(replace(form(), class_="chat"), state, ASYNC, NOW).action is Action.ADMIT


def test_a_later_run_keeps_the_first_ones_name_and_its_last_moment() -> None:
    state = under(ASYNC, rung=2, defers_async=True)
    late = NOW + 500_000
    again = replace(form("r2"), arrived_ms=late, continues="r1", first_arrived_ms=NOW)
    decision = deferred(again, state, late)
    assert decision.deferral is not None
    assert (decision.deferral.id, decision.deferral.until_ms) == ("r1", NOW + 600_000)


def test_work_that_is_too_old_to_be_put_off_again_is_tried_and_then_refused() -> None:
    state = under(ASYNC, rung=2, defers_async=True)
    late = NOW + 590_000
    again = replace(form("r3"), arrived_ms=late, continues="r1", first_arrived_ms=NOW)
    assert decide(again, state, ASYNC, late).action is Action.ADMIT
    tight = replace(again, deadline_ms=100.0)
    assert refused(decide(tight, state, ASYNC, late)) == (Reason.DEADLINE_INFEASIBLE, 503, False)


def test_a_later_run_is_held_to_the_first_ones_deadline() -> None:
    late = NOW + 3_600_000 - 200
    again = replace(form("r4"), arrived_ms=late, continues="r1", first_arrived_ms=NOW)
    decision = decide(again, idle_state(ASYNC), ASYNC, late)
    assert decision.shape.deadline_ms == 200
    assert decision.reason is Reason.DEADLINE_INFEASIBLE


@pytest.mark.parametrize("changes", [{"input_tokens": 20_000}, {"input_tokens": 7990}])
def test_what_no_wait_can_heal_is_never_put_off(changes: dict[str, Any]) -> None:
    decision = decide(form(deadline_ms=9e6, **changes), idle_state(ASYNC), ASYNC, NOW)
    assert decision.action is Action.REJECT


def test_retries_are_held_to_a_tenth_of_first_tries_and_told_when_to_come_back() -> None:
    policy = small_policy(
        admission__concurrency__per_replica=100,
        admission__retry={"budget": 0.1, "after_ms": [200, 2000], "window": "10s"},
    )
    state = idle_state(policy, slots=100)

    def tried(name: str, attempt: int) -> Decision:
        decision = decide(form(name, attempt=attempt), state, policy, NOW)
        if decision.offer is not None:
            state.reserve(f"{name} {attempt}", decision, policy, NOW, NOW + 1000)
        return decision

    for n in range(20):
        assert tried(f"r{n}", 1).offer is not None
    assert [tried(f"r{n}", 2).offer is not None for n in range(4)] == [True, True, False, False]
    refusal = tried("r5", 2).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.status, refusal.retryable) == (Reason.RETRY_BUDGET, 503, False)
    assert (refusal.after_ms, refusal.budget) == (10_000 - NOW % 10_000, "retry")
    assert decide(form("r6", attempt=2), state, policy, NOW + 10_000).offer is None  # a new window
    last = decide(form("r7", attempt=4), state, policy, NOW).refusal
    assert last is not None
    assert (last.reason, last.after_ms) == (Reason.RETRY_BUDGET, None)
