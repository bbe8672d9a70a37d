"""Explanations: every constraint with its arithmetic, never another verdict than decided."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import Action, AdmissionRequest, Constraint, Decision, Reason
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

NOW = 1_000_000.0
POLICY = small_policy(
    admission__shares={"tenant_class/standard": {"guaranteed": 0.5, "ceiling": 0.5}},
    admission__max_queued_teu=200,
    admission__live_tokens={"per_device": 9000, "per_tenant": 7000, "per_request": 5000},
    budgets=[{"tenant": "*", "window": "10s", "max_teu": 1500, "max_output_tokens": 900}],
    contract__post_model_reserve_ms=60,
    fallback=[
        {"from": "full", "to": "compact", "where": {"tenant_class": "standard"}},
        {"from": "compact", "to": "retrieval_only", "where": {"task": "form"}},
        {"deny": True, "where": {"task": "form", "tenant_class": "premium"}},
    ],
    admission__conservative_route="full",
)


def told(request: AdmissionRequest, state: AdmissionState) -> Decision:
    return decide(request, state, POLICY, NOW, explain=True)


def of(option: str, decision: Decision) -> list[Constraint]:
    return [found for found in decision.explained if found.option == option]


def test_the_time_is_spelled_out_against_what_is_left() -> None:
    state = idle_state(POLICY, slots=1)
    state.pools["one"].replicas["one"].dispatch("b", 100.0, NOW)
    given: Any = {"input_tokens": 2048, "max_output_tokens": 64, "deadline_ms": 1000}
    decision = told(AdmissionRequest("r", "chat", NOW, **given), state)
    time = next(found for found in of("full", decision) if found.step == "time")
    assert time.reason is Reason.DEADLINE_INFEASIBLE
    assert time.text == (
        "queue 100 + prefill 160 + decode 1,280 + reserve 60 = 1,600 ms > 1,000 ms left"
    )
    bound = next(found for found in of("full bounded", decision) if found.step == "time")
    assert bound.text == (
        "680 ms left for decoding, quanta of 8 tokens take 160 ms: 32 of 64 tokens"
    )


def test_each_ceiling_and_each_budget_is_its_own_line() -> None:
    decision = told(AdmissionRequest("r", "chat", NOW, "acme"), idle_state(POLICY, slots=1))
    texts = [found.text for found in of("full", decision)]
    assert "input 128 + output 20 = 148 ≤ 5,000 tokens of a request" in texts
    assert "tenant acme: 0 held + 148 = 148 tokens ≤ 7,000" in texts
    assert "teu of tenant acme: 0 taken + 52 = 52 ≤ 1,500 in 10 s" in texts
    assert "output_tokens of tenant acme: 0 taken + 20 = 20 ≤ 900 in 10 s" in texts
    assert "one runs 0 of at most 4" in texts


def test_where_the_whole_output_fits_no_bound_is_needed() -> None:
    decision = told(AdmissionRequest("r", "chat", NOW), idle_state(POLICY, slots=1))
    (*_, bound) = of("full bounded", decision)
    assert (bound.step, bound.reason) == ("time", None)
    assert bound.text == (
        "930 ms left for decoding, quanta of 8 tokens take 160 ms:"
        " the whole output of 20 tokens fits, no bound is needed"
    )


def test_a_replica_is_one_of_those_that_are_warm_for_the_route() -> None:
    state = AdmissionState()
    both = [Ready("one", f"c{n}", 4, frozenset({"compact"})) for n in range(2)]
    state.replace_pools([Ready("one", "f1", 4, frozenset({"full"})), *both], NOW)
    decision = told(AdmissionRequest("r", "chat", NOW, tenant_class="standard"), state)
    places = {found.option: found.text for found in decision.explained if found.step == "place"}
    assert places["full"].startswith("f1, one of 1 warm for it;")
    assert ", one of 2 warm for it;" in places["compact"]


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        ({}, "input_tokens and max_output_tokens"),
        ({"input_tokens": 9}, "max_output_tokens"),
        ({"max_output_tokens": 9}, "input_tokens"),
    ],
)
def test_an_undeclared_class_is_told_which_lengths_are_missing(given: Any, absent: str) -> None:
    decision = told(AdmissionRequest("r", "unheard", NOW, **given), idle_state(POLICY))
    (found,) = decision.explained
    assert found.reason is Reason.UNKNOWN_CLASS
    assert found.text == (
        f"the class is not declared: the conservative route full takes it with {absent}"
    )


def test_without_a_conservative_route_an_undeclared_class_has_none() -> None:
    policy = small_policy()
    request = AdmissionRequest("r", "unheard", NOW, input_tokens=9, max_output_tokens=9)
    (found,) = decide(request, idle_state(policy), policy, NOW, explain=True).explained
    assert found.text == "the class is not declared, and no conservative route takes what is not"


def test_a_share_that_owes_is_overdrawn_and_never_a_negative_figure() -> None:
    policy = small_policy(
        admission__shares={
            "route/full": {"guaranteed": 0.5},
            "tenant_class/standard": {"guaranteed": 0.001},
        }
    )
    state, texts = idle_state(policy, slots=4), list[str]()
    for name in ("a", "b", "c"):
        request = AdmissionRequest(
            name, "chat", NOW, tenant_class="standard", max_output_tokens=1500, deadline_ms=9e5
        )
        decision = decide(request, state, policy, NOW, explain=True)
        texts += [found.text for found in decision.explained if found.step == "share"]
        if decision.offer is not None:
            state.reserve(name, decision, policy, NOW, NOW + 1e6)
    assert any("overdrawn by 1," in text for text in texts), texts
    assert not any("-" in text for text in texts)


def test_a_prohibited_fallback_says_for_whom() -> None:
    request = AdmissionRequest("r", "form", NOW, tenant_class="premium")
    (found,) = of("compact", told(request, idle_state(POLICY)))
    assert found.reason is Reason.FALLBACK_PROHIBITED
    assert "task=form|tenant_class=premium" in found.text


def test_what_a_rung_stops_is_named_with_the_rung() -> None:
    policy = small_policy(classes__form__purpose="shadow")
    state = idle_state(policy)
    state.ladders[policy.digest] = Ladder(rung=1, name="stop_shadow", stops_optional=True)
    request = AdmissionRequest("r", "form", NOW)
    decision = decide(request, state, policy, NOW, explain=True)
    assert decision.reason is Reason.OVERLOAD
    assert decision.explained[0].text == "the rung stop_shadow takes no shadow work"


@st.composite
def states(draw: Any) -> AdmissionState:
    """A pool with some attempts on it, made by decisions, and perhaps a rung in force."""
    slots, count = draw(st.integers(0, 3)), draw(st.integers(0, 6))
    state = idle_state(POLICY, slots=slots, replicas=draw(st.integers(1, 2)))
    for n in range(count):
        shape: Any = {"input_tokens": draw(st.integers(0, 4000)), "max_output_tokens": 20}
        request = AdmissionRequest(f"b{n}", "chat", NOW, draw(TENANTS), deadline_ms=9e5, **shape)
        decision = decide(request, state, POLICY, NOW)
        if decision.offer is not None and not decision.offer.wait:
            state.reserve(f"b{n}", decision, POLICY, NOW, NOW + 1e6)
        elif decision.offer is not None:
            state.enqueue(decision, POLICY)
    rung = draw(st.sampled_from([0, 4, 5]))
    compact = frozenset({"full"}) if rung else frozenset[str]()
    state.ladders[POLICY.digest] = Ladder(rung=rung, compact=compact, refuses_waiting=rung == 5)
    return state


TENANTS = st.sampled_from(["acme", "other"])
REQUESTS = st.builds(
    AdmissionRequest,
    request_id=st.sampled_from(["r1", "b1", "b5"]),
    class_=st.sampled_from(["chat", "form", "unheard"]),
    arrived_ms=st.just(NOW),
    tenant=TENANTS,
    tenant_class=st.sampled_from([None, "standard", "premium"]),
    input_tokens=st.integers(0, 17_000) | st.none(),
    max_output_tokens=st.integers(1, 400) | st.none(),
    deadline_ms=st.floats(1, 20_000),
    attempt=st.sampled_from([1, 1, 2, 9]),
)


@settings(max_examples=200, deadline=None)
@given(REQUESTS, states())
def test_the_first_failing_constraint_is_the_reason_of_the_decision(
    request: AdmissionRequest, state: AdmissionState
) -> None:
    decision, plain = told(request, state), decide(request, state, POLICY, NOW)
    assert (decision.action, decision.reason, decision.offer) == (
        plain.action,
        plain.reason,
        plain.offer,
    )
    # By option, both name the same first no: the plain decision stops there, the other goes on.
    # Where the whole output fits, an option with a bound is none, and nothing of it failed.
    unneeded = {f.option for f in decision.explained if "no bound is needed" in f.text}
    first = {found.option: found.reason for found in reversed(decision.explained) if found.reason}
    for found in plain.explained:
        if found.option in unneeded:
            assert found.option.endswith(" bounded")
            assert found.option not in first
            continue
        assert first.pop(found.option) is found.reason
    if decision.action is Action.REJECT and decision.shape.cell.known:
        requested = of(decision.shape.route, decision)
        assert next(found.reason for found in requested if found.reason) is decision.reason


@settings(max_examples=100, deadline=None)
@given(REQUESTS, states())
def test_an_admitted_option_has_no_constraint_that_says_no(
    request: AdmissionRequest, state: AdmissionState
) -> None:
    decision = told(request, state)
    offer = decision.offer
    if offer is not None:
        label = f"{offer.route} bounded" if offer.action is Action.BOUND else offer.route
        assert of(label, decision)
        assert all(found.reason is None for found in of(label, decision))
