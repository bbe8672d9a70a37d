import base64
import math
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from orchid.formats import otlp
from orchid.formats.reading import UnreadableError
from tests.formats.otlp_bodies import TRACE_ID, body, named_pairs, spans_of, wire_span

MODEL, TOKENS = "triton.model_name", "gen_ai.usage.input_tokens"


@pytest.mark.parametrize("name", ["0000", "0001", "0002", "0003", "0004"])
def test_protobuf_and_json_of_one_body_read_the_same(
    data: Path, recordings: Path, name: str
) -> None:
    json_body = (recordings / f"run2/otlp/{name}.otlp.json").read_bytes()
    protobuf_body = (data / f"otlp/{name}.converted.pb").read_bytes()
    reading = otlp.read_protobuf(protobuf_body)
    assert reading == otlp.read_json(json_body)
    assert (reading.lost, reading.dropped_text) == ([], 0)


def test_the_example_of_the_specification_has_lower_case_ids(data: Path) -> None:
    reading = otlp.read_json((data / "otlp/opentelemetry_proto_example_trace.json").read_bytes())
    (span,) = spans_of(reading)
    assert (span.trace_id, span.span_id) == (TRACE_ID, "eee19b7ec3c1b174")
    assert span.parent_span_id == "eee19b7ec3c1b173"
    assert span.end_ns - span.start_ns == 10**9
    assert span.service == "my.service"
    assert reading.dropped_text == 1


def test_ids_in_base64_are_normalised() -> None:
    encoded = base64.b64encode(bytes.fromhex(TRACE_ID)).decode()
    (span,) = spans_of(otlp.read_json(body(wire_span(traceId=encoded))))
    assert span.trace_id == TRACE_ID


def test_times_as_strings_and_as_numbers_are_one() -> None:
    given = wire_span(startTimeUnixNano=10, endTimeUnixNano="30")
    (span,) = spans_of(otlp.read_json(body(given)))
    assert (span.start_ns, span.end_ns) == (10, 30)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spanId": "12345"}, "span id has 5 characters"),
        ({"spanId": "eee19b7ec3c1b17z"}, "span id has 16 characters"),
        ({"parentSpanId": "1234"}, "parent span id has 4 characters"),
        ({"traceId": "0" * 32}, "all zeros"),
        ({"traceId": ""}, "trace id is missing"),
        ({"spanId": ""}, "span id is missing"),
        ({"startTimeUnixNano": "soon"}, "not a whole number"),
        ({"startTimeUnixNano": str(2**62), "endTimeUnixNano": "1"}, "ends before it starts"),
        ({"endTimeUnixNano": str(2**63)}, "out of range"),
        ({"name": 7}, "name"),
        ({"attributes": [{"key": TOKENS, "value": {"intValue": "x"}}]}, "not the number"),
        ({"attributes": [{"key": TOKENS, "value": {"intValue": str(2**70)}}]}, "out of the range"),
        ({"attributes": [{"key": TOKENS, "value": {"doubleValue": "x"}}]}, "not the number"),
    ],
)
def test_one_bad_span_is_rejected_by_itself(changes: dict[str, Any], reason: str) -> None:
    reading = otlp.read_json(body(wire_span(1), wire_span(2, **changes), wire_span(3)))
    assert len(reading.records) == 2
    (lost,) = reading.lost
    assert lost.offset == 1
    assert reason in lost.reason


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("trace_id", b"", "trace id is missing"),
        ("span_id", b"\1" * 7, "span id has 14 hex digits"),
        ("parent_span_id", b"\1" * 9, "parent span id has 18 hex digits"),
        ("end_time_unix_nano", 0, "ends before it starts"),
        ("end_time_unix_nano", 2**63, "out of range"),
    ],
)
def test_a_bad_span_in_protobuf_is_rejected_by_itself(
    data: Path, field: str, value: Any, reason: str
) -> None:
    request = ExportTraceServiceRequest.FromString((data / "otlp/0001.converted.pb").read_bytes())
    setattr(request.resource_spans[0].scope_spans[0].spans[1], field, value)
    reading = otlp.read_protobuf(request.SerializeToString())
    assert len(reading.records) == 2
    assert [(lost.offset, reason in lost.reason) for lost in reading.lost] == [(1, True)]


def test_a_recorded_span_without_ids_is_named(data: Path) -> None:
    reading = otlp.read_json((data / "otlp/vllm_0_29_llm_request.json").read_bytes())
    assert reading.records == []
    assert "trace id is missing" in reading.lost[0].reason


@pytest.mark.parametrize(
    "junk", [b"", b"[]", b"\xff", b'{"resourceSpans": 3}', b'{"x": "\\ud800"}']
)
def test_a_body_that_is_no_otlp_is_refused_whole(junk: bytes) -> None:
    with pytest.raises(UnreadableError):
        otlp.read_json(junk)


def test_a_protobuf_body_cut_short_is_refused_whole(data: Path) -> None:
    with pytest.raises(UnreadableError):
        otlp.read_protobuf((data / "otlp/0001.converted.pb").read_bytes()[:-7])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gen_ai.prompt", "a secret"),
        # A known name with a value of another kind may hold a prompt all the same.
        (TOKENS, "a secret"),
        (MODEL, "a secret" * 100),
        (MODEL, 7),
    ],
)
def test_what_may_be_text_is_dropped_and_counted(name: str, value: Any) -> None:
    given = {"triton.trace_id": 9, name: value, "gen_ai.usage.output_tokens": 14}
    reading = otlp.read_json(body(wire_span(attributes=named_pairs(given))))
    assert reading.dropped_text == 1
    (span,) = spans_of(reading)
    assert span.attributes == {"triton.trace_id": 9, "gen_ai.usage.output_tokens": 14}
    assert b"secret" not in reading.records[0].body


def test_no_text_of_protobuf_is_left_in_what_is_stored() -> None:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.trace_state = b"\1" * 16, b"\2" * 8, "secret=1"
    span.status.code, span.status.message = 2, "secret"  # type: ignore[assignment]
    span.links.add().trace_state = "secret"
    event = span.events.add(name="gen_ai.content.prompt", time_unix_nano=5)
    event.attributes.add(key="gen_ai.prompt").value.string_value = "secret"
    kept = span.attributes.add(key=MODEL)
    kept.value.string_value = "full"
    span.attributes.add(key=MODEL).value.array_value.values.add(string_value="secret")
    span.attributes.add(key="messages").value.bytes_value = b"secret"
    reading = otlp.read_protobuf(request.SerializeToString())
    (found,) = spans_of(reading)
    assert b"secret" not in reading.records[0].body
    assert (found.attributes, found.failed) == ({MODEL: "full"}, True)
    assert found.events == (("gen_ai.content.prompt", 5),)
    assert reading.dropped_text == 2


def test_a_pair_written_in_an_unusual_way_is_read_all_the_same() -> None:
    # Value before key, which an encoder may do; then a name of two bytes' length.
    turned = b"\x12\x02\x18\x0e\x0a" + bytes([len(TOKENS)]) + TOKENS.encode()
    long = named_pairs({MODEL: "m" * 300})
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = b"\1" * 16, b"\2" * 8
    given = span.SerializeToString() + b"\x4a" + bytes([len(turned)]) + turned
    scope = b"\x12" + _varint(len(given)) + given
    group = b"\x12" + _varint(len(scope)) + scope
    reading = otlp.read_protobuf(b"\x0a" + _varint(len(group)) + group)
    assert spans_of(reading)[0].attributes == {TOKENS: 14}
    (span_of_json,) = spans_of(otlp.read_json(body(wire_span(attributes=long))))
    assert span_of_json.attributes == {MODEL: "m" * 300}


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7])


def test_an_endless_number_is_no_value() -> None:
    given = [{"key": TOKENS, "value": {"doubleValue": "Infinity"}}]
    (span,) = spans_of(otlp.read_json(body(wire_span(attributes=given))))
    assert not any(math.isinf(float(value)) for value in span.attributes.values())


def test_names_that_are_no_names_are_cut() -> None:
    events = [{"name": "e" * 9_000, "timeUnixNano": "3"}]
    (span,) = spans_of(otlp.read_json(body(wire_span(name="n" * 9_000, events=events))))
    assert (len(span.name), len(span.events[0][0])) == (512, 512)


def test_the_answer_names_how_many_spans_were_rejected_and_is_empty_when_none_was() -> None:
    assert otlp.partial_success(0, "").SerializeToString() == b""
    assert otlp.partial_success(1, "span id").partial_success.rejected_spans == 1


def test_an_endless_body_is_unreadable() -> None:
    with pytest.raises(UnreadableError):
        otlp.read_json(b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}")
