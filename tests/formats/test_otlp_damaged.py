"""Whatever arrives, a reader gives whole spans and names what was lost, or refuses the body."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from orchid.formats import gen_ai, otlp, triton_spans, vllm_spans
from orchid.formats.reading import Reading, UnreadableError
from tests.formats.otlp_bodies import spans_of

DATA = Path(__file__).parents[1] / "data" / "otlp"
RECORDED = (DATA / "0004.converted.pb").read_bytes()
SMALL = (DATA / "0001.converted.pb").read_bytes()
EXAMPLE = (DATA / "opentelemetry_proto_example_trace.json").read_bytes()
VLLM = (DATA / "vllm_0_29_llm_request.json").read_bytes()

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["", "0" * 16, "f" * 32, "9" * 5_000, "gen_ai.usage.input_tokens"])
)
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def _is_whole(reading: Reading[otlp.Packed]) -> None:
    """Every span that was taken can be read again, by all who read spans."""
    spans = spans_of(reading)
    assert all(0 <= span.start_ns <= span.end_ns < 2**63 for span in spans)
    assert all(len(span.trace_id) == 32 and len(span.span_id) == 16 for span in spans)
    triton_spans.traces(spans)
    gen_ai.calls(spans)
    for span in spans:
        vllm_spans.latencies(span)


def _read(reader: Any, data: bytes) -> None:
    try:
        reading = reader(data)
    except UnreadableError:
        return
    _is_whole(reading)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    _read(otlp.read_protobuf, data)
    _read(otlp.read_json, data)


@given(st.integers(0, len(RECORDED)))
def test_a_body_that_is_cut_anywhere_is_refused_or_read_in_part(end: int) -> None:
    _read(otlp.read_protobuf, RECORDED[:end])


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), max_size=8))
def test_altered_bytes_are_read_or_refused(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(SMALL)
    for place, value in changes:
        damaged[place] = value
    _read(otlp.read_protobuf, bytes(damaged))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(place for key, one in items for place in _places(one, (*path, key)))]


_WHOLE = json.loads(VLLM)
_WHOLE["resourceSpans"] += json.loads(EXAMPLE)["resourceSpans"]
_PLACES = _places(_WHOLE)


@settings(deadline=None)
@given(st.sampled_from(_PLACES[1:]), _ANYTHING)
def test_a_value_of_any_type_at_any_place_is_read_or_refused(
    place: tuple[Any, ...], value: Any
) -> None:
    changed = json.loads(json.dumps(_WHOLE))
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    _read(otlp.read_json, json.dumps(changed).encode())


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(["array_value", "kvlist_value"]), st.integers(1, 300))
def test_deep_nesting_of_an_attribute_costs_nothing(kind: str, depth: int) -> None:
    request = ExportTraceServiceRequest.FromString(SMALL)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    value = span.attributes.add(key="deep").value
    for _ in range(min(depth, 40)):
        value = (
            value.array_value.values.add()
            if kind == "array_value"
            else value.kvlist_value.values.add(key="k").value
        )
    value.string_value = "secret"
    reading = otlp.read_protobuf(request.SerializeToString())
    assert reading.dropped_text == 1
    assert not any(b"secret" in one.body for one in reading.records)


def test_a_span_with_very_many_attributes_and_events_is_stripped_quickly() -> None:
    request = ExportTraceServiceRequest.FromString(SMALL)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    for number in range(50_000):
        span.attributes.add(key=f"a{number}").value.string_value = "secret"
        span.events.add(name="e", time_unix_nano=number)
    reading = otlp.read_protobuf(request.SerializeToString())
    assert (len(reading.records), reading.dropped_text) == (3, 50_000)
    assert not any(b"secret" in one.body for one in reading.records)
