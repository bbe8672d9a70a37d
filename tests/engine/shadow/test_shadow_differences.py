"""How a candidate's decision differs, and what a request was near to."""

from datetime import UTC, datetime
from typing import Any

import pytest

from orchid.engine.document.load import load_document
from orchid.engine.shadow.differences import difference, near
from orchid.engine.wire.diagnosis import RecordError
from orchid.engine.wire.shadow import ShadowRecord, Side, encode_shadow, parse_shadow
from tests.small_policy import small_document

FULL = Side(action="admit", reason="requested", route="full", output_tokens=20)
COMPACT = Side(action="fallback", reason="fallback_needed", route="compact", output_tokens=20)
BOUNDED = Side(action="bound", reason="bounded_by_deadline", route="full", output_tokens=16)
REFUSED = Side(action="reject", reason="queue_full")
LATER = Side(action="defer", reason="deferred")


@pytest.mark.parametrize(
    ("incumbent", "candidate", "expected"),
    [
        (FULL, FULL, "same"),
        (FULL, REFUSED, "refuses"),
        (LATER, REFUSED, "refuses"),
        (FULL, LATER, "defers"),
        (REFUSED, LATER, "defers"),
        (REFUSED, COMPACT, "serves"),
        (LATER, FULL, "serves"),
        (FULL, COMPACT, "route"),
        (FULL, BOUNDED, "bounds"),
        (BOUNDED, Side(action="bound", reason="output_capped", route="full"), "bounds"),
        (REFUSED, Side(action="reject", reason="overload"), "reason"),
        (REFUSED, REFUSED, "same"),
        (LATER, LATER, "same"),
    ],
)
def test_each_pair_of_decisions_has_one_difference(
    incumbent: Side, candidate: Side, expected: str
) -> None:
    assert difference(incumbent, candidate) == expected


def line(**more: Any) -> ShadowRecord:
    known: dict[str, Any] = {
        "mode": "shadow",
        "request_id": "r1",
        "product": "orchid-small",
        "publication": 3,
        "incumbent_digest": "sha256:a",
        "candidate_digest": "sha256:b",
        "at": datetime(2026, 1, 2, tzinfo=UTC),
        "class_": "chat",
        "incumbent": FULL,
        "candidate": FULL,
        "deadline_ms": 1000.0,
        "input_tokens": 100,
    }
    return ShadowRecord(**(known | more))


def nearness(record: ShadowRecord, **changes: Any) -> frozenset[str]:
    return frozenset(near(record, load_document(small_document(**changes)).document))


def side(**more: Any) -> Side:
    return Side(action="admit", reason="requested", route="full", **more)


def test_the_last_fifth_of_a_deadline_is_near_it_with_the_reserve_after_the_model() -> None:
    assert nearness(line(candidate=side(completion_ms=799.0))) == frozenset()
    assert nearness(line(candidate=side(completion_ms=800.0))) == {"deadline"}
    reserved = nearness(
        line(incumbent=side(completion_ms=760.0)), contract__post_model_reserve_ms=50
    )
    assert reserved == {"deadline"}


def test_a_decision_for_the_deadline_is_near_it_whatever_it_predicts() -> None:
    late = Side(action="reject", reason="queue_full", fell_out={"full": "deadline_infeasible"})
    assert nearness(line(candidate=late)) == {"deadline"}


def test_the_last_bucket_of_input_is_a_long_context() -> None:
    buckets = {
        "segments__dimensions": ["task", "tenant_class", "input_bucket"],
        "segments__buckets": {"input_bucket": [512, 2048]},
    }
    assert nearness(line(input_tokens=2048), **buckets) == frozenset()
    assert nearness(line(input_tokens=2049), **buckets) == {"long_context"}


def test_without_buckets_most_of_a_routes_window_is_a_long_context() -> None:
    assert nearness(line(input_tokens=12_799)) == frozenset()
    assert nearness(line(input_tokens=12_800)) == {"long_context"}


def test_a_budget_is_near_when_four_fifths_are_used_or_it_refuses() -> None:
    assert nearness(line(incumbent=side(budget_used=0.79))) == frozenset()
    assert nearness(line(incumbent=side(budget_used=0.8))) == {"budget"}
    spent = Side(action="reject", reason="budget_exhausted")
    assert nearness(line(candidate=spent)) == {"budget"}


def test_a_line_is_read_as_it_was_written() -> None:
    record = line(passed_over={"overload": 3}, candidate=REFUSED)
    assert parse_shadow(encode_shadow(record)) == record


@pytest.mark.parametrize(
    ("line_", "code"),
    [
        (b"{", "not_json"),
        (b'{"schema":"orchid.shadow/v2"}', "bad_value"),
        (b'{"prompt":"hello"}', "text_not_allowed"),
        (b"x" * 9000, "too_large"),
    ],
)
def test_a_line_that_is_none_says_why(line_: bytes, code: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_shadow(line_)
    assert refused.value.code == code
