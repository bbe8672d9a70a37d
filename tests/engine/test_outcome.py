"""What a request counts as: one definition, and no figure that a bad response can improve."""

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from orchid.engine import outcome
from orchid.engine.clocks import LatencyBound, latency_bounds
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade, Routing
from orchid.engine.wire.fields import Action
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord

STANDARD = {"task": "assistant", "tenant_class": "standard"}
PREMIUM = {"task": "assistant", "tenant_class": "premium"}
SUCCESS = {"completed", "policy_valid", "deadline_valid", "technical_success", "safely_served"}
COUNTED = {"latency_counted", "inter_token_counted"}


@pytest.fixture(scope="module")
def policy(demo: tuple[LoadedDocument, LoadedDocument]) -> PolicyDocument:
    """Generation 2 of the demo: compact fallback for standard tenants, bounded answers accepted."""
    return demo[1].document


def attempt(policy: PolicyDocument, route: str = "full", **changes: Any) -> AttemptRecord:
    manifest = manifest_digest(policy.models[route]) if route in policy.models else None
    fields: dict[str, Any] = {"attempt_id": "a1", "route": route, "manifest": manifest}
    return AttemptRecord(**{**fields, **changes})


def request(policy: PolicyDocument, *, action: Action = "admit", **changes: Any) -> RequestRecord:
    fields: dict[str, Any] = {
        "request_id": "r1",
        "product": "orchid-demo",
        "arrived_at": datetime(2026, 1, 1, tzinfo=UTC),
        "outcome": "completed",
        "class_": "short_assistant",
        "segment": STANDARD,
        "completion_ms": 400.0,
        "first_token_ms": 90.0,
        "decision": DecisionRecord(action=action, route="full"),
        "policy_valid": True,
        "schema_valid": True,
        "attempts": (attempt(policy),),
    }
    return RequestRecord(**{**fields, **changes})


def counted(policy: PolicyDocument, **changes: Any) -> frozenset[str]:
    return outcome.populations(request(policy, **changes), policy)


def test_a_whole_valid_answer_in_time_is_a_technical_success(policy: PolicyDocument) -> None:
    found = counted(policy)
    assert found == {"offered", "eligible", "admitted", *COUNTED, *SUCCESS}
    assert found <= set(outcome.COUNTERS)


def test_a_late_answer_is_throughput_and_not_goodput(policy: PolicyDocument) -> None:
    assert "technical_success" in counted(policy, completion_ms=1500.0)
    late = counted(policy, completion_ms=1500.1)
    assert {"completed", "policy_valid"} <= late
    assert late.isdisjoint({"deadline_valid", "technical_success"})


@pytest.mark.parametrize("result", ["truncated", "timed_out", "failed", "lost", "cancelled"])
def test_what_did_not_finish_is_no_success(policy: PolicyDocument, result: str) -> None:
    found = counted(policy, outcome=result)
    assert result in found
    assert "eligible" in found
    assert found.isdisjoint(SUCCESS)


def test_a_rung_counts_only_where_the_contract_accepts_it(policy: PolicyDocument) -> None:
    assert "technical_success" in counted(policy, outcome="bounded")
    assert "technical_success" not in counted(policy, outcome="early_terminated")
    cached = (attempt(policy, "cached"),)
    assert "technical_success" not in counted(policy, attempts=cached)


def test_an_early_end_is_whole_only_by_a_declared_stop_for_its_segment(
    reference: PolicyDocument,
) -> None:
    stopped = request(
        reference,
        product="orchid-serve",
        outcome="early_terminated",
        segment={"task": "short_assistant", "tenant_class": "standard"},
        attempts=(attempt(reference),),
    )
    elsewhere = replace(stopped, segment={"task": "short_assistant", "tenant_class": "premium"})
    undeclared = reference.models["full"].model_copy(update={"early_stop": None})
    without = reference.model_copy(
        update={"models": {**reference.models, "full": undeclared}},
    )
    assert "technical_success" in outcome.populations(stopped, reference)
    assert "technical_success" not in outcome.populations(elsewhere, reference)
    assert "technical_success" not in outcome.populations(stopped, without)


def test_a_compact_answer_counts_only_where_fallback_is_allowed(policy: PolicyDocument) -> None:
    compact = (attempt(policy, "compact"),)
    allowed = counted(policy, action="fallback", attempts=compact)
    denied = counted(policy, action="fallback", attempts=compact, segment=PREMIUM)
    assert {"fallback", "technical_success"} <= allowed
    assert "fallback" in denied
    assert "technical_success" not in denied


def test_another_manifest_is_another_model(policy: PolicyDocument) -> None:
    other = counted(policy, attempts=(attempt(policy, manifest="sha256:other"),))
    unstated = counted(policy, attempts=(attempt(policy, manifest=None),))
    assert "manifest_mismatch" in other
    assert "manifest_mismatch" not in unstated
    assert "technical_success" not in other | unstated


@pytest.mark.parametrize("field", ["policy_valid", "schema_valid"])
def test_unknown_validity_is_neither_violation_nor_success(
    policy: PolicyDocument, field: str
) -> None:
    unknown = counted(policy, **{field: None})
    invalid = counted(policy, **{field: False})
    assert unknown.isdisjoint({"violation", "policy_valid", "technical_success"})
    assert "violation" in invalid
    assert "technical_success" not in invalid


def test_a_response_that_the_validator_stopped_is_no_violation(policy: PolicyDocument) -> None:
    assert "violation" not in counted(policy, outcome="failed", policy_valid=False)


def test_an_ineligible_request_is_in_no_denominator(policy: PolicyDocument) -> None:
    assert counted(policy, eligible=False) == {"offered", "ineligible", "admitted"}


def test_refusals_lower_attainment_and_leave_latency_alone(policy: PolicyDocument) -> None:
    found = counted(policy, action="reject", outcome="rejected", attempts=())
    assert {"offered", "eligible", "rejected"} == found


def test_latency_counts_what_never_answered_as_slower_than_any_bound(
    policy: PolicyDocument,
) -> None:
    assert outcome.latency_ms(request(policy), policy) == 400.0
    assert outcome.latency_ms(request(policy, outcome="timed_out"), policy) == math.inf
    assert outcome.latency_ms(request(policy, outcome="cancelled"), policy) is None
    refused = request(policy, action="reject", outcome="rejected")
    assert outcome.latency_ms(refused, policy) is None


def test_a_bound_is_kept_up_to_and_with_itself(policy: PolicyDocument) -> None:
    bounds = latency_bounds(policy)
    assert [bound.key for bound in bounds] == ["completion<=1500"]
    kept = outcome.within(request(policy, completion_ms=1500.0), policy, bounds)
    missed = outcome.within(request(policy, completion_ms=1500.01), policy, bounds)
    assert kept == {"completion<=1500"}
    assert not missed


GAP, PACE = LatencyBound("inter_token", 200.0), LatencyBound("time_per_output_token", 10.0)


def kept(policy: PolicyDocument, **changes: Any) -> frozenset[str]:
    return outcome.within(request(policy, **changes), policy, (GAP, PACE))


def test_the_time_per_output_token_is_what_passed_after_the_first_by_the_others(
    policy: PolicyDocument,
) -> None:
    # 31 tokens, the first at 90 ms: 30 more by 390 ms are 10 ms each.
    assert PACE.key in kept(policy, output_tokens=31, completion_ms=390.0)
    assert PACE.key not in kept(policy, output_tokens=31, completion_ms=390.1)
    assert PACE.key not in kept(policy, output_tokens=31, first_token_ms=None)
    assert PACE.key not in kept(policy, output_tokens=None)


def test_the_longest_gap_is_a_clock_of_its_own(policy: PolicyDocument) -> None:
    assert kept(policy, output_tokens=400, max_gap_ms=200.0) == {GAP.key, PACE.key}
    assert kept(policy, output_tokens=400, max_gap_ms=200.1) == {PACE.key}
    assert kept(policy, output_tokens=400, max_gap_ms=None) == {PACE.key}


def test_a_single_token_has_no_time_between_tokens_and_is_in_no_share_of_it(
    policy: PolicyDocument,
) -> None:
    single = counted(policy, output_tokens=1, max_gap_ms=1.0)
    assert "latency_counted" in single
    assert "inter_token_counted" not in single
    assert not kept(policy, output_tokens=1, max_gap_ms=1.0)
    assert {GAP.population, PACE.population} == {"inter_token_counted"}


def test_what_never_answered_counts_against_every_clock(policy: PolicyDocument) -> None:
    cut = {"outcome": "timed_out", "output_tokens": 1, "max_gap_ms": 1.0}
    assert counted(policy, **cut) >= COUNTED
    assert not kept(policy, **cut)


def test_a_late_or_honestly_empty_answer_is_safe_and_no_goodput(policy: PolicyDocument) -> None:
    late = counted(policy, completion_ms=9_000.0)
    assert "safely_served" in late
    assert "technical_success" not in late
    accepting = policy.model_copy(
        update={"contract": policy.contract.model_copy(update={"accepts": ("retrieval_only",)})}
    )
    sources = request(
        policy, attempts=(attempt(policy, "retrieval_only"),), policy_valid=None, schema_valid=None
    )
    assert "safely_served" in outcome.populations(sources, accepting)
    assert "technical_success" not in outcome.populations(sources, accepting)
    assert "safely_served" not in outcome.populations(sources, policy)


def test_an_invalid_or_cut_answer_is_never_safe(policy: PolicyDocument) -> None:
    assert "safely_served" not in counted(policy, schema_valid=False)
    assert "safely_served" not in counted(policy, policy_valid=None)
    assert "safely_served" not in counted(policy, outcome="truncated")


def test_own_devices_need_no_price_and_outside_attempts_do(policy: PolicyDocument) -> None:
    outside = attempt(policy, "elsewhere")
    priced = attempt(policy, "elsewhere", cost_usd=Decimal("0.01"))
    free = attempt(policy, "elsewhere", cost_usd=Decimal(0))
    assert "unpriced" not in counted(policy)
    assert "unpriced" in counted(policy, attempts=(outside, attempt(policy)))
    assert "unpriced" not in counted(policy, attempts=(priced, free))
    assert outcome.priced_usd(request(policy, attempts=(priced, free)), policy) == Decimal("0.01")


def test_the_requests_own_deadline_counts_where_it_is_sooner(policy: PolicyDocument) -> None:
    assert "technical_success" in counted(policy, deadline_ms=2000.0)
    assert "technical_success" not in counted(policy, deadline_ms=200.0)


def test_patience_of_the_callers_own_makes_no_late_answer_a_success(policy: PolicyDocument) -> None:
    late = counted(policy, deadline_ms=1e9, completion_ms=1_501.0)
    assert "completed" in late
    assert not {"deadline_valid", "technical_success"} & late


def test_what_the_validator_stopped_is_counted_and_no_violation(policy: PolicyDocument) -> None:
    stopped = counted(policy, outcome="failed", schema_valid=False)
    assert {"failed", "validator_stopped"} <= stopped
    assert "violation" not in stopped
    delivered = counted(policy, schema_valid=False)
    assert "violation" in delivered
    assert "validator_stopped" not in delivered


def test_an_escalation_is_the_large_answer_after_the_small_one(policy: PolicyDocument) -> None:
    cascade = Cascade(small="compact", large="full", threshold=0.8, validated_by="suite 1")
    cascading = policy.model_copy(update={"routing": Routing(cascade=cascade)})
    both = (attempt(policy, "compact"), attempt(policy, "full", attempt_id="a2"))
    escalated = request(policy, attempts=both)
    assert "escalated" in outcome.populations(escalated, cascading)
    assert "escalated" not in outcome.populations(escalated, policy)
    assert "escalated" not in outcome.populations(request(policy), cascading)
