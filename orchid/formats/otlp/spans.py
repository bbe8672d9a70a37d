"""One span: checked, stripped of everything that may be text, and packed for storing."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from orchid.formats.otlp import pairs
from orchid.formats.otlp.attributes import LONGEST_NAME
from orchid.formats.otlp.pairs import Value
from orchid.formats.otlp.wire import WireSpan

_TRACE_ID_BYTES, _SPAN_ID_BYTES = 16, 8
_NO_TRACE, _NO_SPAN = bytes(_TRACE_ID_BYTES), bytes(_SPAN_ID_BYTES)
_LATEST_NS = 2**63
_FAILED = 2  # STATUS_CODE_ERROR


class Packed(msgspec.Struct, frozen=True, gc=False):
    """A span that can be stored. `body` is the span itself, in OTLP's own encoding."""

    trace_id: bytes
    span_id: bytes
    start_ns: int
    service: str
    body: bytes


class Span(msgspec.Struct, frozen=True):
    """One span; times are Unix nanoseconds, events are (name, time) in the order sent."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    start_ns: int
    end_ns: int
    service: str
    failed: bool
    attributes: dict[str, Value]
    events: tuple[tuple[str, int], ...]


class SpanError(ValueError):
    """This one span can't be stored."""


def packed(span: Any, service: str, inherited: Mapping[str, bytes]) -> tuple[Packed, int]:
    """Check and pack a message; with it, how many attributes were dropped.

    `inherited` are pairs of the resource by name, for a span that doesn't say them itself.
    """
    trace_id, span_id, start = span.trace_id, span.span_id, span.start_time_unix_nano
    if len(trace_id) != _TRACE_ID_BYTES or trace_id == _NO_TRACE:
        raise SpanError(_bad_id("trace id", trace_id, _TRACE_ID_BYTES))
    if len(span_id) != _SPAN_ID_BYTES or span_id == _NO_SPAN:
        raise SpanError(_bad_id("span id", span_id, _SPAN_ID_BYTES))
    parent = span.parent_span_id
    if parent and len(parent) != _SPAN_ID_BYTES:
        raise SpanError(_bad_id("parent span id", parent, _SPAN_ID_BYTES))
    if not start <= (end := span.end_time_unix_nano) < _LATEST_NS:
        raise SpanError(_bad_times(start, end))
    given = span.attributes
    dropped = _strip(span, given[:], inherited) if given or inherited else 0
    body = span.SerializeToString()
    # No name in it can be longer than all of it, so that most spans need no look at each.
    if len(body) > LONGEST_NAME and _shorten(span):
        body = span.SerializeToString()
    return Packed(trace_id, span_id, start, service, body), dropped


def _bad_times(start: int, end: int) -> str:
    return "the span ends before it starts" if start > end else "a time is out of range"


def _bad_id(what: str, found: bytes, size: int) -> str:
    if len(found) == size:
        return f"the {what} is all zeros"
    if not found:
        return f"the {what} is missing; expected {2 * size} hex digits"
    return f"the {what} has {2 * len(found)} hex digits, expected {2 * size}"


def _strip(span: Any, given: list[bytes], inherited: Mapping[str, bytes]) -> int:
    """Leave only what is kept in the message; how many attributes went."""
    kept = pairs.kept(given)
    dropped = len(given) - len(kept)
    if inherited:
        named = {name for name, _ in pairs.values(kept)}
        kept += [pair for name, pair in inherited.items() if name not in named]
    if dropped or inherited:
        span.ClearField("attributes")
        span.attributes.extend(kept)
    return dropped


def _shorten(span: Any) -> bool:
    """Cut names that are too long to be names; whether there was one."""
    long = [named for named in (span, *span.events) if len(named.name) > LONGEST_NAME]
    for named in long:
        named.name = named.name[:LONGEST_NAME]
    return bool(long)


def unpacked(body: bytes, service: str = "") -> Span:
    """A stored span as its readers want it."""
    wire = WireSpan.FromString(body)
    parent = wire.parent_span_id
    return Span(
        trace_id=wire.trace_id.hex(),
        span_id=wire.span_id.hex(),
        parent_span_id=parent.hex() if any(parent) else None,
        name=wire.name,
        start_ns=wire.start_time_unix_nano,
        end_ns=wire.end_time_unix_nano,
        service=service,
        failed=wire.status.code == _FAILED,
        attributes=dict(pairs.values(wire.attributes)),
        events=tuple(
            (event.name, event.time_unix_nano)
            for event in wire.events
            if event.time_unix_nano < _LATEST_NS
        ),
    )


def ancestors(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    """The known spans above one, the nearest first; spans that go in a circle end it."""
    seen = {span.span_id}
    above = by_id.get(span.parent_span_id or "")
    while above is not None and above.span_id not in seen:
        yield above
        seen.add(above.span_id)
        above = by_id.get(above.parent_span_id or "")
