"""Triton's OpenTelemetry spans (`mode=opentelemetry`) to the same traces as its files.

One request is a root `InferRequest`, under it one span for each model, under that `compute`. All
three are of kind SERVER, so spans are never counted as requests: the model span is the execution,
and it takes the events of the spans beside it. Spans come children first and spread over bodies,
so this works on every span of a trace id that is known so far.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchid.formats.otlp import Span
from orchid.formats.triton_epochs import APART_NS, WAITING, Event
from orchid.formats.triton_phases import Trace

_MODEL = "triton.model_name"


@dataclass(frozen=True)
class SpanTrace:
    """A trace with the span it came from. Its events are Unix nanoseconds of the server's host."""

    trace_id: str
    span_id: str
    service: str
    trace: Trace


def traces(spans: Iterable[Span]) -> list[SpanTrace]:
    """One trace for each model span; a span delivered twice counts once."""
    by_trace: dict[str, dict[str, Span]] = defaultdict(dict)
    for span in spans:
        by_trace[span.trace_id][span.span_id] = span
    return [found for group in by_trace.values() for found in _of_one_trace(group)]


def _of_one_trace(group: dict[str, Span]) -> Iterator[SpanTrace]:
    below: dict[str, list[Span]] = defaultdict(list)
    for span in group.values():
        if span.parent_span_id is not None:
            below[span.parent_span_id].append(span)
    for span in group.values():
        if _MODEL in span.attributes:
            yield _execution(span, group, below[span.span_id])


def _execution(span: Span, group: dict[str, Span], below: Sequence[Span]) -> SpanTrace:
    parts = [span, *(child for child in below if child.name == "compute")]
    root = group.get(span.parent_span_id or "")
    if root is not None and _MODEL not in root.attributes:
        parts.append(root)
    trace = Trace(
        id=_int(span, "triton.trace_id") or 0,
        events=tuple(
            event for part in parts for event in part.events if _is_taken(event, span.start_ns)
        ),
        model=str(span.attributes[_MODEL]),
        model_version=_version(span),
        request_id=str(span.attributes.get("triton.request_id", "")) or None,
        parent_id=_int(span, "triton.trace_parent_id") or None,
    )
    return SpanTrace(span.trace_id, span.span_id, span.service, trace)


def _is_taken(event: Event, start_ns: int) -> bool:
    """Whether this is a moment of the execution.

    A backend that crashed leaves 0 in what it never stamped, and Triton shifts that with the rest
    to the moment its host booted. Only the wait for a request may begin so long before it.
    """
    name, ns = event
    return ns >= start_ns - APART_NS or (name == WAITING and ns > 0)


def _int(span: Span, key: str) -> int | None:
    value = span.attributes.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _version(span: Span) -> int | None:
    """As in trace files: -1 is the newest, and what is no version is unknown."""
    value = _int(span, "triton.model_version")
    return value if value is not None and -1 <= value < 2**31 else None
