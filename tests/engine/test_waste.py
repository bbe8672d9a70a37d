"""Work that no success came of has one cause each, and none of it is lost or counted twice."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.waste import wasted, work_of
from orchid.engine.wire.records import AttemptRecord, RequestRecord


@pytest.fixture
def policy(demo: tuple[LoadedDocument, LoadedDocument]) -> PolicyDocument:
    return demo[0].document


def tried(**fields: Any) -> AttemptRecord:
    wish: dict[str, Any] = {"route": "full", "accelerator_ms": 100.0, "teu_observed": Decimal(40)}
    return AttemptRecord(attempt_id="a", **wish | fields)


def causes(policy: PolicyDocument, *attempts: AttemptRecord, **fields: Any) -> dict[str, Any]:
    """Wasted milliseconds and TEU by cause."""
    wish: dict[str, Any] = {"outcome": "completed", "completion_ms": 200.0, "output_tokens": 5}
    wish |= {"policy_valid": True, "schema_valid": True}
    record = RequestRecord(
        request_id="r",
        product="orchid-demo",
        arrived_at=datetime(2026, 1, 1, tzinfo=UTC),
        class_="short_assistant",
        attempts=attempts,
        **wish | fields,
    )
    found = wasted(record, policy)
    return {cause: ((one.ms or 0) / 1000, (one.teu or 0) / 1e6) for cause, one in found.items()}


def test_a_success_wastes_nothing(policy: PolicyDocument) -> None:
    assert causes(policy, tried(status="completed")) == {}


@pytest.mark.parametrize("outcome", ["failed", "timed_out", "lost", "truncated"])
def test_what_was_never_delivered_failed(policy: PolicyDocument, outcome: str) -> None:
    found = causes(policy, tried(), outcome=outcome, completion_ms=None)
    assert found == {"failed": (100.0, 40.0)}


def test_an_invalid_answer_is_as_good_as_none(policy: PolicyDocument) -> None:
    assert causes(policy, tried(status="completed"), schema_valid=False) == {
        "failed": (100.0, 40.0)
    }


def test_a_retry_that_serves_leaves_what_failed_before_it(policy: PolicyDocument) -> None:
    found = causes(policy, tried(status="failed", useful_tokens=3), tried(status="completed"))
    assert found == {"failed": (100.0, 40.0)}


def test_a_late_answer_is_work_for_nothing(policy: PolicyDocument) -> None:
    assert causes(policy, tried(), completion_ms=1e6) == {"late": (100.0, 40.0)}


def test_whether_an_answer_was_late_must_be_told(policy: PolicyDocument) -> None:
    assert causes(policy, tried(), completion_ms=None) == {}


def test_who_leaves_before_a_token_abandons_the_prefill(policy: PolicyDocument) -> None:
    fields: dict[str, Any] = {"outcome": "cancelled", "completion_ms": None}
    assert causes(policy, tried(), **fields) == {"cancelled": (100.0, 40.0)}
    fields["output_tokens"] = 0
    assert causes(policy, tried(), **fields) == {"abandoned_prefill": (100.0, 40.0)}
    fields["output_tokens"] = None
    assert causes(policy, tried(), **fields) == {"cancelled": (100.0, 40.0)}


def test_predicted_work_stands_where_none_was_observed(policy: PolicyDocument) -> None:
    lost = tried(teu_observed=None, teu_predicted=Decimal(52), accelerator_ms=None)
    assert causes(policy, lost, outcome="lost") == {"failed": (0.0, 52.0)}


def test_padding_is_its_part_of_the_batch(policy: PolicyDocument) -> None:
    found = causes(policy, tried(useful_tokens=290, padded_tokens=510))
    assert found == {"padded": (63.75, 25.5)}


def test_prefill_that_was_done_again_is_told_of_the_rest(policy: PolicyDocument) -> None:
    again = {"kv_blocks_allocated": 8, "kv_blocks_recomputed": 4}
    phases = {"accelerator_prefill_ms": 60.0, "teu_prefill_observed": Decimal(30)}
    assert causes(policy, tried(**again, **phases)) == {"preempted": (30.0, 15.0)}
    padded = causes(policy, tried(useful_tokens=1, padded_tokens=1, **again, **phases))
    assert padded == {"preempted": (15.0, 7.5), "padded": (50.0, 20.0)}


SHARES = st.integers(0, 1000)


@settings(max_examples=100)
@given(
    statuses=st.lists(st.sampled_from(["completed", "failed", "cancelled", None]), max_size=3),
    outcome=st.sampled_from(["completed", "failed", "cancelled", "timed_out"]),
    completion_ms=st.sampled_from([None, 10.0, 1e6]),
    cells=st.tuples(SHARES, SHARES, SHARES, SHARES),
)
def test_causes_come_to_no_more_than_the_work(
    demo: tuple[LoadedDocument, LoadedDocument],
    statuses: list[Any],
    outcome: str,
    completion_ms: float | None,
    cells: tuple[int, int, int, int],
) -> None:
    useful, padded, allocated, recomputed = cells
    attempts = [
        tried(
            status=status,
            useful_tokens=useful,
            padded_tokens=padded,
            kv_blocks_allocated=allocated,
            kv_blocks_recomputed=recomputed,
            accelerator_prefill_ms=70.0,
            teu_prefill_observed=Decimal(30),
        )
        for status in statuses
    ]
    found = causes(demo[0].document, *attempts, outcome=outcome, completion_ms=completion_ms)
    works = [work_of(attempt) for attempt in attempts]
    assert sum(ms for ms, _ in found.values()) <= sum(w.ms or 0 for w in works) / 1000 + 1e-2
    assert sum(teu for _, teu in found.values()) <= sum(w.teu or 0 for w in works) / 1e6 + 1e-5
