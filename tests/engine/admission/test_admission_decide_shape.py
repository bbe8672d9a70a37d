"""What a request is measured as: unknown classes, calibration, windows, rungs without a model."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.admission.budgets import ATOMS
from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Action, AdmissionRequest, Decision, Reason
from tests.small_policy import small_document, small_policy

NOW = 1_000_000.0


def answer(policy: CompiledPolicy, class_: str = "chat", **changes: Any) -> Decision:
    request = AdmissionRequest("r1", class_, NOW, **changes)
    return decide(request, idle_state(policy, slots=4), policy, NOW)


def models(**full: Any) -> dict[str, Any]:
    found: dict[str, Any] = small_document()["models"]
    return {**found, "full": {**found["full"], **full}}


def test_an_unknown_class_is_priced_as_the_dearest_and_settles_at_what_it_used() -> None:
    policy = small_policy(
        admission__conservative_route="compact",
        budgets=[{"tenant": "*", "window": "1d", "max_teu": 1000}],
    )
    request = AdmissionRequest("r1", "unheard", NOW, input_tokens=400, max_output_tokens=20)
    state = idle_state(policy)
    decision = decide(request, state, policy, NOW)
    assert decision.offer is not None
    assert (decision.reason, decision.offer.route) == (Reason.CONSERVATIVE_ROUTE, "compact")
    assert decision.offer.teu == 120  # as if full: 400 / 4 + 20
    state.reserve("a", decision, policy, NOW, NOW + 1000)
    state.settle("a", 20, NOW)
    assert state.budgets.account(86_400_000, "-", NOW).teu == 60 * ATOMS


def test_an_unknown_class_over_a_hard_limit_is_refused_at_once() -> None:
    policy = small_policy(admission__conservative_route="full")
    decision = answer(policy, "unheard", input_tokens=7990, max_output_tokens=20)
    assert decision.refusal is not None
    assert (decision.reason, decision.refusal.status) == (Reason.SHAPE_OVER_LIMIT, 422)


def test_a_modality_that_the_route_does_not_read_is_a_matter_of_shape() -> None:
    assert answer(small_policy(), modality="image").reason is Reason.SHAPE_OVER_LIMIT
    policy = small_policy(models=models(modality=["text", "image"]))
    assert answer(policy, modality="image").action is Action.ADMIT
    fallback = answer(policy, modality="image", tenant_class="standard", deadline_ms=200)
    assert [c.reason for c in fallback.explained if c.option == "compact"] == [
        Reason.SHAPE_OVER_LIMIT
    ]


def test_a_padded_cell_reserves_more_and_settles_at_what_was_used() -> None:
    cells = [{"route": "full", "input_bucket": "0-512", "pad": "1.5"}]
    policy = small_policy(
        demand__cells=cells,
        segments={
            "dimensions": ["task", "tenant_class", "input_bucket"],
            "buckets": {"input_bucket": [512]},
        },
        budgets=[{"tenant": "acme", "window": "1d", "max_teu": 1000}],
    )
    offer = answer(policy).offer
    assert offer is not None
    assert offer.teu == Decimal(78)  # 52 x 1.5
    long = answer(policy, input_tokens=600).offer
    assert long is not None
    assert long.teu == Decimal(170)
    state = idle_state(policy)
    request = AdmissionRequest("r1", "chat", NOW, "acme")
    state.reserve("a", decide(request, state, policy, NOW), policy, NOW, NOW + 1000)
    assert state.budgets.account(86_400_000, "acme", NOW).teu == 78 * ATOMS
    state.settle("a", 20, NOW)
    assert state.budgets.account(86_400_000, "acme", NOW).teu == 52 * ATOMS


def test_a_disabled_cell_goes_to_the_conservative_route_or_is_refused() -> None:
    cells = [{"route": "full", "disabled": True}]
    refused = answer(small_policy(demand__cells=cells))
    assert (refused.action, refused.reason) == (Action.REJECT, Reason.CELL_UNCALIBRATED)
    policy = small_policy(demand__cells=cells, admission__conservative_route="compact")
    offer = answer(policy).offer
    assert offer is not None
    assert (offer.action, offer.reason) == (Action.ADMIT, Reason.CELL_UNCALIBRATED)
    assert offer.route == "compact"
    assert offer.teu == 52


def test_a_fallback_with_a_disabled_cell_is_no_option() -> None:
    policy = small_policy(demand__cells=[{"route": "compact", "disabled": True}])
    decision = answer(policy, tenant_class="standard", deadline_ms=300)
    assert {c.option: c.reason for c in decision.explained}["compact"] is Reason.CELL_UNCALIBRATED


def test_an_approved_percentile_is_reserved_instead_of_the_cap() -> None:
    classes = small_document()["classes"]
    reserve = {"output_tokens": 15, "percentile": 0.95, "evidence": "e"}
    policy = small_policy(classes={**classes, "form": {**classes["form"], "reserve": reserve}})
    offer = answer(policy, "form").offer
    assert offer is not None
    assert (offer.action, offer.output_tokens) == (Action.ADMIT, 15)
    assert offer.teu == 47


def test_input_over_the_window_is_trimmed_where_the_route_says_so() -> None:
    given: dict[str, Any] = {"input_tokens": 5000, "deadline_ms": 9e5}
    short = models(context_tokens=4000)
    assert answer(small_policy(models=short), **given).reason is Reason.CONTEXT_WINDOW
    policy = small_policy(models=models(context_tokens=4000, over_budget_input="trim_oldest"))
    offer = answer(policy, **given).offer
    assert offer is not None
    assert (offer.input_tokens, offer.live_tokens) == (3980, 4000)


SOURCES = [
    {"from": "full", "to": "retrieval_only", "where": {}},
    {"from": "full", "to": "compact", "where": {"tenant_class": "standard"}},
]


def test_sources_alone_are_the_last_rung_and_hold_nothing() -> None:
    policy = small_policy(fallback=SOURCES)
    state = idle_state(policy, warm=False)
    request = AdmissionRequest("r1", "chat", NOW, tenant_class="standard")
    decision = decide(request, state, policy, NOW)
    assert [c.option for c in decision.explained] == ["full", "full bounded", "compact"]
    offer = decision.offer
    assert offer is not None
    assert (offer.action, offer.reason) == (Action.FALLBACK, Reason.FALLBACK_SOURCES)
    assert (offer.route, offer.replica, offer.live_tokens) == ("retrieval_only", "", 0)
    assert offer.teu == 0
    for name in ("a", "b"):
        state.reserve(name, decision, policy, NOW, NOW + 1000)
    for name in ("a", "b"):
        assert state.settle(name, 0, NOW) is not None
    assert state.live_tokens(pool="one") == 0


def test_a_late_request_gets_no_sources_either() -> None:
    policy = small_policy(fallback=SOURCES, contract__post_model_reserve_ms=60)
    request = AdmissionRequest("r1", "chat", NOW - 950)
    assert decide(request, idle_state(policy), policy, NOW).reason is Reason.DEADLINE_INFEASIBLE


def test_an_early_stop_is_named_only_for_the_segments_of_its_evidence() -> None:
    stop = {"version": "stop-2", "evidence": "e", "where": {"tenant_class": "standard"}}
    accepting = {"models": models(early_stop=stop), "contract__accepts": ["early_terminated"]}
    for changes, tenant_class, expected in (
        (accepting, "standard", "stop-2"),
        (accepting, "premium", None),
        ({**accepting, "contract__accepts": []}, "standard", None),
    ):
        offer = answer(small_policy(**changes), tenant_class=tenant_class).offer
        assert offer is not None
        assert offer.early_stop == expected


@pytest.mark.parametrize("sequences", [1, 2])
def test_a_routes_sequences_are_counted_over_all_its_replicas(sequences: int) -> None:
    policy = small_policy(models=models(max_sequences=sequences))
    state = idle_state(policy, slots=4, replicas=2)
    for n in range(sequences):
        decision = decide(AdmissionRequest(f"r{n}", "chat", NOW), state, policy, NOW)
        state.reserve(f"a{n}", decision, policy, NOW, NOW + 1000)
    after = decide(AdmissionRequest("r9", "chat", NOW), state, policy, NOW)
    assert after.reason is Reason.MEMORY_INFEASIBLE


def test_a_routes_own_live_tokens_are_a_ceiling() -> None:
    limits = {"per_device": 100_000, "per_tenant": 50_000, "per_request": 8_000}
    policy = small_policy(admission__live_tokens={**limits, "per_route": {"full": 200}})
    assert answer(policy, input_tokens=180).action is Action.ADMIT
    assert answer(policy, input_tokens=181).reason is Reason.MEMORY_INFEASIBLE


def test_every_tenant_has_its_own_account_and_a_named_cap_takes_the_place() -> None:
    budgets = [
        {"tenant": "*", "window": "1d", "max_teu": 60, "max_external_calls": 1},
        {"tenant": "acme", "window": "1d", "max_teu": 110},
    ]
    policy = small_policy(budgets=budgets)
    state = idle_state(policy, slots=8)

    def admitted(name: str, tenant: str, calls: int = 0) -> bool:
        request = AdmissionRequest(name, "chat", NOW, tenant, external_calls=calls)
        decision = decide(request, state, policy, NOW)
        if decision.offer is not None:
            state.reserve(name, decision, policy, NOW, NOW + 1000)
        return decision.offer is not None

    assert [admitted("a", "one"), admitted("b", "one"), admitted("c", "two")] == [
        True,
        False,
        True,
    ]
    assert [admitted(f"d{n}", "acme") for n in range(3)] == [True, True, False]
    assert not admitted("e", "three", calls=2)
