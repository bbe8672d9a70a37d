"""The spans of one trace to engine attempts, by whichever convention they were written."""

from collections.abc import Iterator, Mapping, Sequence

from ingest.services.attempts import Facts, facts_of, kept
from ingest.states import Clock, EngineSystem
from orchid.formats import gen_ai, triton_spans, vllm_spans
from orchid.formats.gen_ai import ModelCall
from orchid.formats.otlp import Span, ancestors
from orchid.formats.triton_phases import Ending, children
from orchid.formats.triton_spans import SpanTrace


def attempts_of(spans: Sequence[Span]) -> list[Facts]:
    """Executions in Triton and calls of models, by column; a summary of calls is neither."""
    executions = triton_spans.traces(spans)
    own = {one.span_id for one in executions}
    by_id = {span.span_id: span for span in spans}
    calls = [
        _call(call, _above(call.span, by_id, own))
        for call in gen_ai.calls(spans)
        if not call.summary and call.span.span_id not in own
    ]
    return [*_of_triton(executions), *calls, *_bare(spans, by_id, own)]


def summaries_of(spans: Sequence[Span]) -> list[str]:
    """Keys of the spans that only repeat what the calls below them say."""
    return [key_of(call.span) for call in gen_ai.calls(spans) if call.summary]


def key_of(span: Span) -> str:
    return f"{span.trace_id}:{span.span_id}"


def _of_triton(group: Sequence[SpanTrace]) -> Iterator[Facts]:
    below = children(one.trace for one in group)
    keys = {one.trace.id: f"{one.trace_id}:{one.span_id}" for one in group}
    for one in group:
        if one.trace.events:
            mine, composite = below.get(one.trace.id, ()), one.trace.id in below
            yield facts_of(one.trace, mine, composite=composite) | {
                "key": f"{one.trace_id}:{one.span_id}",
                "parent_key": keys.get(one.trace.parent_id or 0, ""),
                "clock": Clock.UNIX.value,
            }


def _bare(spans: Sequence[Span], by_id: Mapping[str, Span], own: set[str]) -> Iterator[Facts]:
    """vLLM's spans without token counts: an execution still, with what it cost unknown."""
    for span in spans:
        if vllm_spans.is_request(span) and not gen_ai.is_call(span) and span.span_id not in own:
            yield _call(gen_ai.call_of(span), _above(span, by_id, own))


def _call(call: ModelCall, parent_key: str) -> Facts:
    span, usage = call.span, call.usage
    told: Facts = {
        "key": key_of(span),
        "parent_key": parent_key,
        "attempt_id": kept(call.attempt_id),
        "model": kept(call.model or span.service),
        "clock": Clock.UNIX.value,
        "first_ns": span.start_ns,
        "events": len(span.events),
        "ending": (Ending.FAILED if span.failed else Ending.ANSWERED).value,
        "composite": False,
        "responses": 0 if span.failed else 1,
        "stamps": sorted(([kept(name), ns] for name, ns in span.events), key=lambda one: one[1]),
        "system": EngineSystem.GEN_AI.value,
        "request_ms": (span.end_ns - span.start_ns) / 1e6,
        "first_token_ms": call.first_token_ms,
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "input_convention": usage.convention.value,
    }
    return told | _latencies(span, told["request_ms"]) if vllm_spans.is_request(span) else told


def _latencies(span: Span, span_ms: float) -> Facts:
    """vLLM's own clocks, the span around them as the frontend's time."""
    told = vllm_spans.latencies(span)
    return {
        "system": EngineSystem.VLLM.value,
        "frontend_ms": span_ms,
        "request_ms": span_ms if told.request_ms is None else told.request_ms,
        "queue_ms": told.queue_ms,
        "first_token_ms": told.first_token_ms,
        "compute_ms": told.model_ms,
    }


def _above(span: Span, by_id: Mapping[str, Span], own: set[str]) -> str:
    """Key of the Triton execution that the call ran in, if any."""
    inside = (above for above in ancestors(span, by_id) if above.span_id in own)
    return next((key_of(above) for above in inside), "")
