"""OTLP/HTTP trace bodies, protobuf and JSON, to spans.

Ids become lower-case hex whichever way the sender wrote them (hex, or base64 as some do in JSON).
A span that can't be stored is rejected by itself and its neighbours are kept. Only attributes of
known names and types are kept; every other one is dropped and counted, since it may hold a prompt.
"""

from orchid.formats.otlp.answer import partial_success
from orchid.formats.otlp.attributes import KEPT_ATTRIBUTES
from orchid.formats.otlp.json_body import read_json
from orchid.formats.otlp.pairs import Value
from orchid.formats.otlp.protobuf_body import read_protobuf
from orchid.formats.otlp.spans import Packed, Span, SpanError, ancestors, unpacked

__all__ = [
    "KEPT_ATTRIBUTES",
    "Packed",
    "Span",
    "SpanError",
    "Value",
    "ancestors",
    "partial_success",
    "read_json",
    "read_protobuf",
    "unpacked",
]
