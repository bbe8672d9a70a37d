"""The part of OTLP that is kept, as message types of its own.

They have the field numbers of opentelemetry-proto, so they read the same bytes. What they don't
name (attributes of events, links, the text of a status, trace state, whatever comes later) is
unknown to them and is thrown away by the parser, before a line of ours could read or store it.
That is also what makes them quick: nothing is built for a field that nobody asks for.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "orchid.otlp"
_PROTO = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bytes": _PROTO.TYPE_BYTES,
    "string": _PROTO.TYPE_STRING,
    "fixed64": _PROTO.TYPE_FIXED64,
    "int64": _PROTO.TYPE_INT64,
    "double": _PROTO.TYPE_DOUBLE,
    "bool": _PROTO.TYPE_BOOL,
    "int32": _PROTO.TYPE_INT32,
}
#: Message -> field -> (number, type); a type with * repeats.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "AnyValue": {
        "string_value": (1, "string"),
        "bool_value": (2, "bool"),
        "int_value": (3, "int64"),
        "double_value": (4, "double"),
    },
    "KeyValue": {"key": (1, "string"), "value": (2, "AnyValue")},
    "Event": {"time_unix_nano": (1, "fixed64"), "name": (2, "string")},
    "Status": {"code": (3, "int32")},
    "Span": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "parent_span_id": (4, "bytes"),
        "name": (5, "string"),
        "start_time_unix_nano": (7, "fixed64"),
        "end_time_unix_nano": (8, "fixed64"),
        # Left as bytes: which of them are worth a parser is seen without one.
        "attributes": (9, "bytes*"),
        "events": (11, "Event*"),
        "status": (15, "Status"),
    },
    "ScopeSpans": {"spans": (2, "Span*")},
    "Resource": {"attributes": (1, "bytes*")},
    "ResourceSpans": {"resource": (1, "Resource"), "scope_spans": (2, "ScopeSpans*")},
    "Body": {"resource_spans": (1, "ResourceSpans*")},
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="orchid/otlp.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            _add(message, field, number, kind)
    return file


def _add(message: descriptor_pb2.DescriptorProto, field: str, number: int, kind: str) -> None:
    base = kind.removesuffix("*")
    added = message.field.add(
        name=field,
        number=number,
        label=_PROTO.LABEL_OPTIONAL if kind == base else _PROTO.LABEL_REPEATED,
    )
    if base in _SCALARS:
        added.type = _SCALARS[base]
    else:
        added.type, added.type_name = _PROTO.TYPE_MESSAGE, f".{_PACKAGE}.{base}"
    if message.name == "AnyValue":
        if not message.oneof_decl:
            message.oneof_decl.add(name="value")
        added.oneof_index = 0


_POOL = descriptor_pool.DescriptorPool()
_POOL.Add(_file())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


#: Classes made at run time, so that nothing can be said of their types.
Body: Any = _class("Body")
WireSpan: Any = _class("Span")
KeyValue: Any = _class("KeyValue")
