"""OTLP spans to rows, and the attempts that the spans known so far make.

Decoded in the request, because OTLP's partial success is part of its answer: the sender hears 200
only when the spans are stored.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from ingest.models import EngineAttempt, EngineSpan, Source
from ingest.services.attempts import attempt_of, upsert
from ingest.services.inbox import SourceKey, source_for
from ingest.states import Clock
from orchid.formats.otlp import Span
from orchid.formats.triton_phases import children
from orchid.formats.triton_spans import SpanTrace, traces
from policies.models import Product


@transaction.atomic
def store_spans(product: Product, source_key: SourceKey, spans: Iterable[Span]) -> int:
    """Store spans; how many are new. A span that comes again changes nothing."""
    source = source_for(product, source_key)
    rows = [_row(source, span) for span in spans]
    touched = {row.trace_id for row in rows}
    known = EngineSpan.objects.filter(source=source, trace_id__in=touched)
    before = known.count()
    EngineSpan.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1000)
    upsert(_attempts(source, touched))
    return known.all().count() - before


def _row(source: Source, span: Span) -> EngineSpan:
    return EngineSpan(
        source=source,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_span_id or "",
        name=_text(span.name),
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        service=_text(span.service),
        attributes={key: _text(value) for key, value in span.attributes.items()},
        events=[[_text(name), ns] for name, ns in span.events],
    )


def _text(value: Any) -> Any:
    """PostgreSQL stores no NUL."""
    return value.replace("\x00", "") if isinstance(value, str) else value


def _attempts(source: Source, trace_ids: Iterable[str]) -> list[EngineAttempt]:
    rows = EngineSpan.objects.filter(source=source, trace_id__in=list(trace_ids))
    found = traces(_span(row) for row in rows)
    return [attempt for group in _by_trace(found).values() for attempt in _of_trace(source, group)]


def _span(row: EngineSpan) -> Span:
    return Span(
        trace_id=row.trace_id,
        span_id=row.span_id,
        parent_span_id=row.parent_span_id or None,
        name=row.name,
        start_ns=row.start_ns,
        end_ns=row.end_ns,
        service=row.service,
        attributes=row.attributes,
        events=tuple((name, ns) for name, ns in row.events),
    )


def _by_trace(found: Iterable[SpanTrace]) -> dict[str, list[SpanTrace]]:
    groups: dict[str, list[SpanTrace]] = defaultdict(list)
    for one in found:
        groups[one.trace_id].append(one)
    return groups


def _of_trace(source: Source, group: list[SpanTrace]) -> list[EngineAttempt]:
    below = children(one.trace for one in group)
    keys = {one.trace.id: _key(one) for one in group}
    return [
        attempt_of(
            source,
            one.trace,
            key=_key(one),
            parent_key=keys.get(one.trace.parent_id or 0, ""),
            clock=Clock.UNIX,
            its_children=below.get(one.trace.id, ()),
            composite=one.trace.id in below,
        )
        for one in group
        if one.trace.events
    ]


def _key(one: SpanTrace) -> str:
    return f"{one.trace_id}:{one.span_id}"
