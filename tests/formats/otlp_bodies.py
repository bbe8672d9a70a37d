"""OTLP bodies in JSON, for the tests."""

import json
from collections.abc import Mapping
from typing import Any

from orchid.formats import otlp
from orchid.formats.reading import Reading

TRACE_ID = "5b8efff798038103d269b633813fc60c"


def wire_span(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A span of one trace with an id made of its number; every field can be set."""
    return {
        "traceId": TRACE_ID,
        "spanId": f"eee19b7ec3c1b{number:03x}",
        "name": "s",
        "startTimeUnixNano": "1790341371953418752",
        "endTimeUnixNano": "1790341372208341144",
        **changes,
    }


def pairs(**values: Any) -> list[dict[str, Any]]:
    """Attributes as OTLP writes them; a double underscore in a name stands for a dot."""
    return [
        {"key": name.replace("__", "."), "value": _value(value)} for name, value in values.items()
    ]


def named_pairs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"doubleValue": value} if isinstance(value, float) else {"intValue": str(value)}


def body(*spans: dict[str, Any], resource: Mapping[str, Any] | None = None) -> bytes:
    group: dict[str, Any] = {"scopeSpans": [{"spans": list(spans)}]}
    if resource:
        group["resource"] = {"attributes": named_pairs(resource)}
    return json.dumps({"resourceSpans": [group]}).encode()


def spans_of(reading: Reading[otlp.Packed]) -> list[otlp.Span]:
    return [otlp.unpacked(one.body, one.service) for one in reading.records]
