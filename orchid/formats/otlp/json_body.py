"""`application/json` bodies: ids in hex or base64, 64-bit numbers as strings or as numbers."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.otlp.protobuf_body import collected
from orchid.formats.otlp.spans import Packed, SpanError
from orchid.formats.otlp.wire import KeyValue, WireSpan
from orchid.formats.reading import Reading, UnreadableError


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


class _Status(msgspec.Struct):
    code: int | str = 0


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[_Attribute] = []
    events: list[_Event] = []
    status: _Status | None = None


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
_FAILED = (2, "2", "STATUS_CODE_ERROR")


def read_json(data: bytes) -> Reading[Packed]:
    """Spans of a body; UnreadableError when the body is no OTLP at all."""
    try:
        body = _BODY.decode(data)
    except UNDECODED as error:
        raise UnreadableError(f"not an OTLP JSON body: {error}") from error
    return collected((_resource(group), _spans(group)) for group in body.resource_spans)


def _resource(group: _ResourceSpans) -> Any:
    # A holder of attributes, which is all that is asked of a resource.
    try:
        return WireSpan(attributes=_pairs(group.resource.attributes if group.resource else []))
    except SpanError as error:
        raise UnreadableError(f"a resource can't be read: {error}") from error


def _spans(group: _ResourceSpans) -> Iterator[Any]:
    for scope in group.scope_spans:
        for raw in scope.spans:
            try:
                yield _message(_SPAN.decode(raw))
            except UNDECODED as error:
                yield SpanError(str(error))
            except SpanError as error:
                yield error


def _message(span: _Span) -> Any:
    return WireSpan(
        trace_id=_id(span.trace_id, 16, "trace id"),
        span_id=_id(span.span_id, 8, "span id"),
        parent_span_id=_id(span.parent_span_id, 8, "parent span id"),
        name=span.name,
        start_time_unix_nano=_nanoseconds(span.start_time_unix_nano),
        end_time_unix_nano=_nanoseconds(span.end_time_unix_nano),
        attributes=_pairs(span.attributes),
        events=[
            {"name": event.name, "time_unix_nano": _nanoseconds(event.time_unix_nano)}
            for event in span.events
        ],
        status={"code": 2} if span.status and span.status.code in _FAILED else None,
    )


def _id(written: str, size: int, what: str) -> bytes:
    """Bytes of an id; none of them where none was written. Hex in any case, or base64."""
    try:
        found = (
            bytes.fromhex(written)
            if len(written) == 2 * size
            else base64.b64decode(written, validate=True)
        )
    except (ValueError, binascii.Error):
        found = b"?"
    if written and len(found) != size:
        raise SpanError(f"the {what} has {len(written)} characters, expected {2 * size} hex digits")
    return found


def _nanoseconds(written: int | str) -> int:
    value = _whole(written, "a time is not a whole number of nanoseconds")
    if not 0 <= value < 2**63:
        raise SpanError("a time is out of range")
    return value


def _pairs(attributes: Iterable[_Attribute]) -> list[bytes]:
    return [
        KeyValue(key=one.key, value=_value(one.value) if one.value else None).SerializeToString()
        for one in attributes
    ]


def _value(value: _AnyValue) -> dict[str, Any] | None:
    if value.string_value is not None:
        return {"string_value": value.string_value}
    if value.int_value is not None:
        return {"int_value": _int64(value.int_value)}
    if value.double_value is not None:
        return {"double_value": _double(value.double_value)}
    return None if value.bool_value is None else {"bool_value": value.bool_value}


def _int64(written: int | str) -> int:
    value = _whole(written, "an attribute is not the number it says to be")
    if not -(2**63) <= value < 2**63:
        raise SpanError("an attribute is out of the range of its type")
    return value


def _whole(written: int | str, complaint: str) -> int:
    try:
        return int(written)
    except ValueError as error:
        raise SpanError(complaint) from error


def _double(written: float | str) -> float:
    try:
        return float(written)
    except ValueError as error:
        raise SpanError("an attribute is not the number it says to be") from error
