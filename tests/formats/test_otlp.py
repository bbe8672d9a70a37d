import base64
import json
from pathlib import Path
from typing import Any

import pytest

from orchid.formats import otlp
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_phases import phases
from orchid.formats.triton_spans import traces

TRACE_ID = "5b8efff798038103d269b633813fc60c"


def _span(**changes: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE_ID,
        "spanId": "eee19b7ec3c1b174",
        "name": "s",
        "startTimeUnixNano": "10",
        "endTimeUnixNano": "30",
        **changes,
    }


def _body(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def _read_run2(recordings: Path) -> list[otlp.Span]:
    bodies = sorted((recordings / "run2/otlp").glob("*.otlp.json"))
    return [span for body in bodies for span in otlp.read_json(body.read_bytes()).records]


def test_protobuf_and_json_of_one_body_read_the_same(data: Path, recordings: Path) -> None:
    for name in ("0001", "0003", "0004"):
        json_body = (recordings / f"run2/otlp/{name}.otlp.json").read_bytes()
        protobuf_body = (data / f"otlp/{name}.converted.pb").read_bytes()
        assert otlp.read_protobuf(protobuf_body) == otlp.read_json(json_body)


def test_the_example_of_the_specification_has_lower_case_ids(data: Path) -> None:
    reading = otlp.read_json((data / "otlp/opentelemetry_proto_example_trace.json").read_bytes())
    (span,) = reading.records
    assert (span.trace_id, span.span_id) == (TRACE_ID, "eee19b7ec3c1b174")
    assert span.service == "my.service"
    assert reading.dropped_text == 1


def test_ids_in_base64_are_normalised() -> None:
    encoded = base64.b64encode(bytes.fromhex(TRACE_ID)).decode()
    (span,) = otlp.read_json(_body(_span(traceId=encoded))).records
    assert span.trace_id == TRACE_ID


def test_times_as_strings_and_as_numbers_are_one() -> None:
    (span,) = otlp.read_json(_body(_span(startTimeUnixNano=10))).records
    assert (span.start_ns, span.end_ns) == (10, 30)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spanId": "12345"}, "span id has 5 characters"),
        ({"traceId": "0" * 32}, "all zeros"),
        ({"traceId": ""}, "trace id has 0 characters"),
        ({"startTimeUnixNano": "soon"}, "not a whole number"),
        ({"startTimeUnixNano": "31"}, "ends before it starts"),
        ({"endTimeUnixNano": str(2**63)}, "out of range"),
        ({"name": 7}, "name"),
        (
            {"attributes": [{"key": "triton.trace_id", "value": {"intValue": "x"}}]},
            "not the number",
        ),
    ],
)
def test_one_bad_span_is_rejected_by_itself(changes: dict[str, Any], reason: str) -> None:
    reading = otlp.read_json(_body(_span(), _span(**changes), _span(spanId="eee19b7ec3c1b175")))
    assert len(reading.records) == 2
    (lost,) = reading.lost
    assert lost.offset == 1
    assert reason in lost.reason


def test_a_recorded_span_without_ids_is_named(data: Path) -> None:
    reading = otlp.read_json((data / "otlp/vllm_0_29_llm_request.json").read_bytes())
    assert reading.records == []
    assert "trace id has 0 characters" in reading.lost[0].reason


@pytest.mark.parametrize("junk", [b"", b"[]", b"\xff", b'{"resourceSpans": 3}'])
def test_a_body_that_is_no_otlp_is_refused_whole(junk: bytes) -> None:
    with pytest.raises(UnreadableError):
        otlp.read_json(junk)


def test_a_protobuf_body_cut_short_is_refused_whole(data: Path) -> None:
    with pytest.raises(UnreadableError):
        otlp.read_protobuf((data / "otlp/0001.converted.pb").read_bytes()[:-7])


def test_text_attributes_are_dropped_and_counted() -> None:
    prompt = {"key": "gen_ai.prompt", "value": {"stringValue": "a secret"}}
    tokens = {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "14"}}
    reading = otlp.read_json(_body(_span(attributes=[prompt, tokens])))
    assert reading.dropped_text == 1
    assert reading.records[0].attributes == {"gen_ai.usage.input_tokens": 14}


def test_a_request_is_one_trace_though_it_has_three_server_spans(recordings: Path) -> None:
    spans = _read_run2(recordings)
    found = traces(spans)
    roots = [one for one in found if one.trace.parent_id is None]
    assert len(spans) == 629
    assert len(found) == 232
    assert len(roots) == len({span.trace_id for span in spans}) == 200


def test_spans_in_any_order_and_delivered_twice_give_the_same_traces(recordings: Path) -> None:
    spans = _read_run2(recordings)

    def summary(given: list[otlp.Span]) -> dict[str, object]:
        return {one.span_id: (one.trace.model, phases(one.trace)) for one in traces(given)}

    assert summary(spans[::-1] + spans) == summary(spans)


def test_the_compute_phase_comes_from_the_span_below(recordings: Path) -> None:
    body = (recordings / "run2/otlp/0001.otlp.json").read_bytes()
    (one,) = traces(otlp.read_json(body).records)
    assert one.trace.request_id == "run2-2-00060"
    assert phases(one.trace).compute_ns == 1796004768521880986 - 1796004768511999696
    assert phases(one.trace).http_ns == 1796004768520447160 - 1796004768509418419


def test_the_answer_names_how_many_spans_were_rejected_and_is_empty_when_none_was() -> None:
    assert otlp.partial_success(0, "").SerializeToString() == b""
    assert otlp.partial_success(1, "span id").partial_success.rejected_spans == 1


def test_an_endless_body_is_unreadable_and_an_endless_number_is_one_lost_span() -> None:
    with pytest.raises(UnreadableError):
        otlp.read_json(b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}")
    (key,) = sorted(otlp.KEPT_ATTRIBUTES)[:1]
    endless = {"key": key, "value": {"doubleValue": "Infinity"}}
    reading = otlp.read_json(_body(_span(attributes=[endless]), _span(spanId="eee19b7ec3c1b175")))
    assert [span.span_id for span in reading.records] == ["eee19b7ec3c1b175"]
    assert len(reading.lost) == 1
