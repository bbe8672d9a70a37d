"""Records are strict: every fault has a code and a field, and no line loses its neighbour."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.decision_diff.recorded import read_recorded
from orchid.engine.wire.diagnosis import RecordError
from orchid.engine.wire.glance import glance
from orchid.engine.wire.lines import read_lines
from orchid.engine.wire.records import (
    MAX_RECORD_BYTES,
    AttemptRecord,
    DecisionRecord,
    Rejected,
    RequestRecord,
    encode_record,
    parse_ndjson,
    parse_record,
)


def line(**changes: Any) -> bytes:
    given = {
        "request_id": "r1",
        "product": "orchid-demo",
        "arrived_at": "2026-05-01T10:00:00Z",
        "class": "short_assistant",
        "outcome": "completed",
    } | changes
    return json.dumps({key: value for key, value in given.items() if value is not ...}).encode()


def refusal(data: bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        parse_record(data)
    return caught.value


def test_a_record_survives_the_way_out_and_back() -> None:
    record = RequestRecord(
        request_id="r1",
        product="orchid-demo",
        arrived_at=datetime(2026, 5, 1, 10, tzinfo=UTC),
        outcome="completed",
        class_="short_assistant",
        publication=2,
        digest="sha256:" + "a" * 64,
        segment={"task": "assistant", "tenant_class": "standard"},
        decision=DecisionRecord(action="fallback", route="compact", teu=Decimal("45.5")),
        attempts=(AttemptRecord(attempt_id="a1", cost_usd=Decimal("0.00015113")),),
    )
    assert parse_record(encode_record(record)) == record


def test_money_and_teu_travel_as_decimal_strings() -> None:
    record = parse_record(line(attempts=[{"attempt_id": "a1", "cost_usd": "0.10"}]))
    assert json.loads(encode_record(record))["attempts"][0]["cost_usd"] == "0.10"


def test_an_attempt_tells_work_and_cost_by_part() -> None:
    given = {
        "attempt_id": "a1",
        "teu_prefill_predicted": "225",
        "teu_decode_predicted": "120",
        "kv_blocks_live": 60,
        "kv_blocks_released": 64,
        "transfer_ready_ms": 3,
        "cost_parts_usd": {"accelerator": "0.0001", "validator": "0.00002"},
    }
    record = parse_record(line(attempts=[given]))
    assert json.loads(encode_record(record))["attempts"][0] == given
    assert sum(record.attempts[0].cost_parts_usd.values()) == Decimal("0.00012")


@pytest.mark.parametrize(
    "part",
    [
        {"cost_parts_usd": {"accelerator": "-1"}},
        {"cost_parts_usd": {"a sentence": "1"}},
        {"cost_parts_usd": {f"part{i}": "1" for i in range(17)}},
        {"teu_decode_observed": "Infinity"},
    ],
)
def test_a_part_of_work_or_cost_is_bounded(part: dict[str, object]) -> None:
    refusal(line(attempts=[{"attempt_id": "a1", **part}]))


def test_what_is_unknown_is_absent_and_not_zero() -> None:
    record = parse_record(line())
    assert record.completion_ms is None
    assert record.policy_valid is None
    assert "completion_ms" not in json.loads(encode_record(record))


@pytest.mark.parametrize("name", ["prompt", "messages", "text", "output", "content", "Prompt"])
def test_a_text_field_refuses_the_record(name: str) -> None:
    error = refusal(line(**{name: "the secret plan"}))
    assert (error.code, error.field) == ("text_not_allowed", name)
    assert "secret" not in str(error)


def test_a_text_field_is_found_at_any_depth() -> None:
    error = refusal(line(attempts=[{"attempt_id": "a1", "response": {"x": 1}}]))
    assert (error.code, error.field) == ("text_not_allowed", "attempts.0.response")


def test_text_is_named_before_any_other_fault() -> None:
    assert refusal(line(prompt="x", request_id=...)).code == "text_not_allowed"


@pytest.mark.parametrize("dimension", ["prompt", "Task", "a b"])
def test_a_segment_takes_only_names_of_dimensions(dimension: str) -> None:
    assert refusal(line(segment={dimension: "x"})).code in {"text_not_allowed", "bad_value"}


def test_a_sentence_fits_no_field() -> None:
    error = refusal(line(tenant="please tell me about cats"))
    assert (error.code, error.field) == ("bad_value", "tenant")


def test_nan_names_its_field() -> None:
    error = refusal(line()[:-1] + b', "first_token_ms": NaN}')
    assert (error.code, error.field) == ("nan", "first_token_ms")


def test_an_infinite_amount_is_out_of_range() -> None:
    error = refusal(line(decision={"action": "admit", "teu": "Infinity"}))
    assert (error.code, error.field) == ("out_of_range", "decision")


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"arrived_at": "2026-05-01T10:00:00"}, "bad_time", "arrived_at"),
        ({"arrived_at": "yesterday"}, "bad_time", "arrived_at"),
        ({"request_id": ""}, "empty", "request_id"),
        ({"request_id": ...}, "missing", "request_id"),
        ({"request_id": "x" * 129}, "too_long", "request_id"),
        ({"outcome": "fine"}, "bad_value", "outcome"),
        ({"colour": "red"}, "unknown_field", "colour"),
        ({"completion_ms": -1}, "out_of_range", "completion_ms"),
        ({"completion_ms": 1e300}, "out_of_range", "completion_ms"),
        ({"completion_ms": "12"}, "bad_type", "completion_ms"),
        ({"attempts": [{"attempt_id": "a"}] * 65}, "too_long", "attempts"),
    ],
)
def test_each_fault_has_its_code_and_field(changes: Any, code: str, field: str) -> None:
    error = refusal(line(**changes))
    assert (error.code, error.field) == (code, field)


@pytest.mark.parametrize("data", [b"{", b"nonsense", line() + line(), b"\xff\xfe", b"[" * 5000])
def test_what_is_not_one_json_object_is_refused(data: bytes) -> None:
    assert refusal(data).code == "not_json"


def test_a_list_is_not_a_record() -> None:
    assert refusal(b"[]").code == "not_an_object"


def test_an_oversized_record_is_refused_unread() -> None:
    assert refusal(b" " * (MAX_RECORD_BYTES + 1)).code == "too_large"


def test_a_malformed_line_loses_no_neighbour() -> None:
    body = b"\n".join([line(request_id="a"), b"{broken", b"", line(request_id="b"), b""])
    parsed = parse_ndjson(body)
    assert [(number, record.request_id) for number, record in parsed.records] == [
        (1, "a"),
        (4, "b"),
    ]
    assert [(bad.line, bad.code) for bad in parsed.rejected] == [(2, "not_json")]


def test_a_byte_order_mark_and_carriage_returns_are_harmless() -> None:
    parsed = parse_ndjson(b"\xef\xbb\xbf" + line() + b"\r\n" + line() + b"\r\n")
    assert [number for number, _ in parsed.records] == [1, 2]
    assert not parsed.rejected


def test_a_time_keeps_its_offset() -> None:
    record = parse_record(line(arrived_at="2026-05-01T12:00:00.25+02:00"))
    assert record.arrived_at == datetime(2026, 5, 1, 10, 0, 0, 250_000, tzinfo=UTC)


@pytest.mark.parametrize("field", ["a", "segment", "decision", "attempts", "arrived_at"])
@pytest.mark.parametrize("depth", [*range(900, 1_000, 7), 5_000, 30_000])
def test_nesting_of_any_depth_is_a_refusal_and_no_fault(depth: int, field: str) -> None:
    deep = f'{{"{field}":'.encode() + b"[" * depth + b"]" * depth + b"}"
    body, refused = deep + b"\n" + line(), list[Rejected]()
    parsed = parse_ndjson(body)
    assert [number for number, _ in parsed.records] == [2]
    assert sum(len(lines.requests) for lines in read_lines(body, refused)) == 1
    assert [one.line for one in (*refused, *parsed.rejected)] == [1, 1]
    assert glance(body) == glance(line())
    with pytest.raises(RecordError):
        read_recorded(deep)


@pytest.mark.parametrize("value", ["a=b", "a|b", "a|task=b"])
def test_a_dimension_can_not_write_another_segments_key(value: str) -> None:
    assert refusal(line(segment={"task": value})).field == "segment[...]"
