"""`application/x-protobuf` bodies."""

from collections.abc import Iterable
from typing import Any

from google.protobuf.message import DecodeError

from orchid.formats.otlp.attributes import INHERITED, LONGEST_NAME
from orchid.formats.otlp.pairs import Value, values
from orchid.formats.otlp.spans import Packed, SpanError, packed
from orchid.formats.otlp.wire import Body, KeyValue
from orchid.formats.reading import Lost, Reading, UnreadableError


def read_protobuf(data: bytes) -> Reading[Packed]:
    """Spans of a body; UnreadableError when it is no OTLP at all."""
    body = Body()
    try:
        body.ParseFromString(data)
    except DecodeError as error:
        raise UnreadableError(f"not an OTLP protobuf body: {error}") from error
    body.DiscardUnknownFields()
    return collected(
        (group.resource, (span for scope in group.scope_spans for span in scope.spans))
        for group in body.resource_spans
    )


def collected(groups: Iterable[tuple[Any, Iterable[Any]]]) -> Reading[Packed]:
    """Pack the spans of each resource; a SpanError in the place of one is a lost span."""
    kept: list[Packed] = []
    lost: list[Lost] = []
    position = dropped = 0
    for resource, spans in groups:
        attributes = dict(values(resource.attributes))
        service, inherited = _service_of(attributes), _inherited(attributes)
        for span in spans:
            try:
                if isinstance(span, SpanError):
                    raise span
                one, gone = packed(span, service, inherited)
                kept.append(one)
                dropped += gone
            except SpanError as error:
                lost.append(Lost(position, str(error)))
            position += 1
    return Reading(kept, lost, dropped_text=dropped)


def _service_of(attributes: dict[str, Value]) -> str:
    return str(attributes.get("service.name", ""))[:LONGEST_NAME]


def _inherited(attributes: dict[str, Value]) -> dict[str, bytes]:
    found = attributes.get(INHERITED)
    if not isinstance(found, str) or not 0 < len(found) <= LONGEST_NAME:
        return {}
    return {INHERITED: KeyValue(key=INHERITED, value={"string_value": found}).SerializeToString()}
