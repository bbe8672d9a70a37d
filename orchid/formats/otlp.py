"""OTLP/HTTP trace bodies, protobuf and JSON, to spans.

Ids become lower-case hex whichever way the sender wrote them (hex, or base64 as some do in JSON).
A span that can't be stored is rejected by itself and its neighbours are kept. Only attributes of
known names are kept; every other one is dropped and counted, since it may hold a prompt.
"""

import base64
import binascii
import math
from collections.abc import Iterable, Iterator

import msgspec
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from orchid.formats.reading import UNDECODED, Lost, Reading, UnreadableError

Value = str | int | float | bool

KEPT_ATTRIBUTES = frozenset(
    {
        "triton.model_name",
        "triton.model_version",
        "triton.request_id",
        "triton.trace_id",
        "triton.trace_parent_id",
        "gen_ai.request.id",
        "gen_ai.request.max_tokens",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.usage.completion_tokens",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.latency.time_in_queue",
        "gen_ai.latency.time_to_first_token",
        "gen_ai.latency.e2e",
        "gen_ai.latency.time_in_model_prefill",
        "gen_ai.latency.time_in_model_decode",
    }
)
_LONGEST_TEXT = 256
_SPAN_ID_BYTES = 8
_TRACE_ID_BYTES = 16


class Span(msgspec.Struct, frozen=True):
    """One span; times are Unix nanoseconds, events are (name, time) in the order sent."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    start_ns: int
    end_ns: int
    service: str
    attributes: dict[str, Value]
    events: tuple[tuple[str, int], ...]


class SpanError(ValueError):
    """This one span can't be stored."""


class _AnyValue(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None


class _Attribute(msgspec.Struct):
    key: str = ""
    value: _AnyValue | None = None


class _Event(msgspec.Struct, rename="camel"):
    name: str = ""
    time_unix_nano: int | str = 0


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Attribute] = []
    events: list[_Event] = []


class _ScopeSpans(msgspec.Struct):
    spans: list[msgspec.Raw] = []


class _Resource(msgspec.Struct):
    attributes: list[_Attribute] = []


class _ResourceSpans(msgspec.Struct, rename="camel"):
    scope_spans: list[_ScopeSpans] = []
    resource: _Resource | None = None


class _Body(msgspec.Struct, rename="camel"):
    resource_spans: list[_ResourceSpans] = []


_BODY = msgspec.json.Decoder(_Body)
_SPAN = msgspec.json.Decoder(_Span)


def read_json(data: bytes) -> Reading[Span]:
    """Spans of an `application/json` body; UnreadableError when the body is no OTLP at all."""
    try:
        body = _BODY.decode(data)
    except UNDECODED as error:
        raise UnreadableError(f"not an OTLP JSON body: {error}") from error
    return _collect(_json_spans(body))


def _json_spans(body: _Body) -> Iterator[tuple[str, _Span | SpanError]]:
    for group in body.resource_spans:
        service = _service_of(group.resource.attributes if group.resource else [])
        for scope in group.scope_spans:
            for raw in scope.spans:
                try:
                    yield service, _SPAN.decode(raw)
                except UNDECODED as error:
                    yield service, SpanError(str(error))


def read_protobuf(data: bytes) -> Reading[Span]:
    """Spans of an `application/x-protobuf` body; UnreadableError when it is no OTLP at all."""
    body = ExportTraceServiceRequest()
    try:
        body.ParseFromString(data)
    except DecodeError as error:
        raise UnreadableError(f"not an OTLP protobuf body: {error}") from error
    return _collect(_protobuf_spans(body))


def _protobuf_spans(body: ExportTraceServiceRequest) -> Iterator[tuple[str, _Span | SpanError]]:
    for group in body.resource_spans:
        service = _service_of([_attribute(pair) for pair in group.resource.attributes])
        for scope in group.scope_spans:
            for span in scope.spans:
                yield service, _of_protobuf(span)


def _of_protobuf(span: WireSpan) -> _Span:
    return _Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        name=span.name,
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        attributes=[_attribute(pair) for pair in span.attributes],
        events=[_Event(event.name, event.time_unix_nano) for event in span.events],
    )


def _attribute(pair: KeyValue) -> _Attribute:
    which = pair.value.WhichOneof("value")
    if which not in ("string_value", "int_value", "double_value", "bool_value"):
        return _Attribute(pair.key)
    return _Attribute(pair.key, _AnyValue(**{which: getattr(pair.value, which)}))


def _service_of(attributes: Iterable[_Attribute]) -> str:
    for attribute in attributes:
        if attribute.key == "service.name" and attribute.value is not None:
            return (attribute.value.string_value or "")[:_LONGEST_TEXT]
    return ""


def _collect(spans: Iterable[tuple[str, _Span | SpanError]]) -> Reading[Span]:
    kept: list[Span] = []
    lost: list[Lost] = []
    dropped = 0
    for position, (service, span) in enumerate(spans):
        try:
            if isinstance(span, SpanError):
                raise span
            kept.append(_checked(span, service))
        except SpanError as error:
            lost.append(Lost(position, str(error)))
            continue
        dropped += sum(attribute.key not in KEPT_ATTRIBUTES for attribute in span.attributes)
    return Reading(kept, lost, dropped_text=dropped)


def _checked(span: _Span, service: str) -> Span:
    start, end = _nanoseconds(span.start_time_unix_nano), _nanoseconds(span.end_time_unix_nano)
    if end < start:
        raise SpanError("the span ends before it starts")
    return Span(
        trace_id=_hex_id(span.trace_id, _TRACE_ID_BYTES, "trace id"),
        span_id=_hex_id(span.span_id, _SPAN_ID_BYTES, "span id"),
        parent_span_id=_parent_id(span.parent_span_id),
        name=span.name[:_LONGEST_TEXT],
        start_ns=start,
        end_ns=end,
        service=service,
        attributes=dict(_kept(span.attributes)),
        events=tuple(
            (event.name[:_LONGEST_TEXT], _nanoseconds(event.time_unix_nano))
            for event in span.events
        ),
    )


def _parent_id(written: str) -> str | None:
    if not written or not written.strip("0"):
        return None
    return _hex_id(written, _SPAN_ID_BYTES, "parent span id")


def _hex_id(written: str, size: int, what: str) -> str:
    decoded = _id_bytes(written, size)
    if len(decoded) != size:
        raise SpanError(f"the {what} has {len(written)} characters, expected {2 * size} hex digits")
    if not any(decoded):
        raise SpanError(f"the {what} is all zeros")
    return decoded.hex()


def _id_bytes(written: str, size: int) -> bytes:
    try:
        if len(written) == 2 * size:
            return bytes.fromhex(written)
        return base64.b64decode(written, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _nanoseconds(written: int | str) -> int:
    try:
        value = int(written)
    except ValueError as error:
        raise SpanError("a time is not a whole number of nanoseconds") from error
    if not 0 <= value < 2**63:
        raise SpanError("a time is out of range")
    return value


def _kept(attributes: Iterable[_Attribute]) -> Iterator[tuple[str, Value]]:
    for attribute in attributes:
        value = None if attribute.value is None else _plain(attribute.value)
        if attribute.key in KEPT_ATTRIBUTES and value is not None:
            yield attribute.key, value


def _plain(value: _AnyValue) -> Value | None:
    if value.string_value is not None:
        return value.string_value[:_LONGEST_TEXT]
    try:
        if value.int_value is not None:
            return int(value.int_value)
        if value.double_value is not None:
            return _finite(float(value.double_value))
    except (ValueError, OverflowError) as error:
        raise SpanError("an attribute is not the number it says to be") from error
    return value.bool_value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def partial_success(rejected: int, message: str) -> ExportTraceServiceResponse:
    """The answer of a receiver: empty when all was taken, else how many spans were not and why."""
    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = message
    return answer
