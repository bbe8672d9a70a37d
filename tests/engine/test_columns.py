"""A million records as columns count exactly what each of them counts by itself."""

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine import columns, outcome
from orchid.engine.clocks import LatencyBound
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.fields import Action, Outcome
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord

BOUNDS = (
    LatencyBound("completion", 1500.0),
    LatencyBound("first_token", 100.0),
    LatencyBound("inter_token", 50.0),
    LatencyBound("time_per_output_token", 4.0),
)
ROUTES = ("full", "compact", "retrieval_only", "cached", "elsewhere", None)
MANIFESTS = ("its own", "sha256:other", None)


@pytest.fixture(scope="module")
def policy(demo: tuple[LoadedDocument, LoadedDocument]) -> PolicyDocument:
    """Generation 2 of the demo, for eligible requests of assistants alone."""
    document = demo[1].document
    contract = document.contract.model_copy(
        update={"eligible": {"task": "assistant"}, "accepts": ("bounded", "retrieval_only")}
    )
    return document.model_copy(update={"contract": contract})


def maybe(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | of


# Few values, so that bounds are met exactly and combinations repeat.
MS = st.sampled_from([0.0, 4.0, 50.0, 100.0, 200.0, 1500.0, 1500.1, 1e9])
VALID = st.sampled_from([True, False, None])
ATTEMPTS = st.builds(
    lambda **given: given,
    route=st.sampled_from(ROUTES),
    model=st.sampled_from(["full", "elsewhere", None]),
    manifest=st.sampled_from(MANIFESTS),
    external_calls=maybe(st.integers(0, 2)),
    cost_usd=maybe(st.just(Decimal("0.01"))),
    external_usd=maybe(st.just(Decimal(0))),
)
RECORDS = st.builds(
    lambda **given: given,
    outcome=st.sampled_from(get_args(Outcome)),
    class_=st.sampled_from(["short_assistant", "structured_extraction", "unheard_of"]),
    segment=st.sampled_from(
        [
            {},
            {"task": "assistant", "tenant_class": "standard"},
            {"task": "assistant", "tenant_class": "premium"},
            {"task": "structured_extraction"},
        ]
    ),
    eligible=VALID,
    action=maybe(st.sampled_from(get_args(Action))),
    policy_valid=VALID,
    schema_valid=VALID,
    first_token_ms=maybe(MS),
    max_gap_ms=maybe(MS),
    completion_ms=maybe(MS),
    deadline_ms=maybe(MS),
    output_tokens=maybe(st.sampled_from([0, 1, 2, 51, 351])),
    attempts=st.lists(ATTEMPTS, max_size=2),
)


def attempt(policy: PolicyDocument, number: int, given: dict[str, Any]) -> AttemptRecord:
    manifest = given["manifest"]
    if manifest == "its own":
        model = policy.models.get(given["route"] or "")
        manifest = manifest_digest(model) if model else None
    return AttemptRecord(**{**given, "attempt_id": f"a{number}", "manifest": manifest})


def record(policy: PolicyDocument, given: dict[str, Any]) -> RequestRecord:
    fields = dict(given)
    action = fields.pop("action")
    attempts = fields.pop("attempts")
    return RequestRecord(
        request_id="r1",
        product="orchid-demo",
        arrived_at=datetime(2026, 1, 1, tzinfo=UTC),
        decision=DecisionRecord(action=action, route="full") if action else None,
        attempts=tuple(attempt(policy, n, one) for n, one in enumerate(attempts)),
        **fields,
    )


@settings(max_examples=150)
@given(drawn=st.lists(RECORDS, max_size=40))
def test_every_counter_and_clock_of_columns_is_that_of_each_record(
    policy: PolicyDocument, drawn: list[dict[str, Any]]
) -> None:
    records = [record(policy, one) for one in drawn]
    whole = columns.from_records(records)
    found = columns.populations_of(whole, policy)
    kept = columns.within(whole, policy, BOUNDS)
    taken = columns.latency_ms(whole, policy)
    assert (len(whole), set(found)) == (len(records), set(outcome.COUNTERS))
    for place, one in enumerate(records):
        alone = outcome.populations(one, policy)
        assert {name for name, mask in found.items() if mask[place]} == alone
        assert {key for key, mask in kept.items() if mask[place]} == outcome.within(
            one, policy, BOUNDS
        )
        expected = outcome.latency_ms(one, policy)
        assert expected == taken[place] or (expected is None and math.isnan(taken[place]))


def test_counts_are_of_the_chosen_records(policy: PolicyDocument) -> None:
    usual = {"outcome": "completed", "class_": "short_assistant", "action": "admit", "attempts": []}
    records = [
        record(policy, {**usual, "segment": {"task": "assistant"}}),
        record(policy, {**usual, "segment": {"task": "other"}}),
        record(policy, {**usual, "segment": {"task": "assistant"}, "outcome": "timed_out"}),
    ]
    whole = columns.from_records(records)
    everything = columns.counts(whole, policy)
    assert (everything["offered"], everything["eligible"], everything["completed"]) == (3, 2, 1)
    last_two = columns.counts(whole, policy, np.array([False, True, True]))
    assert (last_two["offered"], last_two["eligible"], last_two["timed_out"]) == (2, 1, 1)


def test_columns_keep_a_combination_of_facts_once(policy: PolicyDocument) -> None:
    usual = {"outcome": "completed", "class_": "short_assistant", "action": "admit", "attempts": []}
    whole = columns.from_records(
        record(policy, {**usual, "completion_ms": float(n)}) for n in range(1000)
    )
    assert len(whole.facts) == 1
    assert len(whole) == 1000
