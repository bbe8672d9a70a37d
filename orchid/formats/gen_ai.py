"""Spans of OpenTelemetry's GenAI convention, in today's names and in older ones, to model calls.

An agent's or a chain's span often repeats the sum of the calls below it. So a span with usage
below another one with usage is the call, and the upper one is its summary, counted nowhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchid.engine.usage import Convention, Usage, convention_of
from orchid.formats.otlp import Span, Value, ancestors
from orchid.formats.otlp.attributes import (
    CACHED_TOKENS,
    INHERITED,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    WRITTEN_TOKENS,
)

_LARGEST = 2**31 - 1
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_ATTEMPT = ("gen_ai.request.id", "orchid.attempt_id")
_FIRST_CHUNK_S = "gen_ai.response.time_to_first_chunk"


@dataclass(frozen=True)
class ModelCall:
    """One span with token counts. `summary` says that calls below it carry them again."""

    span: Span
    usage: Usage
    model: str
    attempt_id: str
    first_token_ms: float | None
    summary: bool


def is_call(span: Span) -> bool:
    """Whether the span tells of tokens, by any spelling."""
    return any(name in span.attributes for name in (*INPUT_TOKENS, *OUTPUT_TOKENS))


def calls(spans: Sequence[Span]) -> list[ModelCall]:
    """The model calls among the spans of one trace, summaries marked as such."""
    told = [span for span in spans if is_call(span)]
    summaries = _above(told, {span.span_id: span for span in spans})
    return [call_of(span, summary=span.span_id in summaries) for span in told]


def _above(told: Iterable[Span], by_id: Mapping[str, Span]) -> set[str]:
    """Ids of all spans that stand over one of these."""
    found: set[str] = set()
    for span in told:
        for above in ancestors(span, by_id):
            if above.span_id in found:
                break
            found.add(above.span_id)
    return found


def call_of(span: Span, *, summary: bool = False) -> ModelCall:
    """What one span tells of a call; unknown where it tells nothing."""
    return ModelCall(
        span,
        usage_of(span.attributes),
        model=first_text(span.attributes, _MODEL),
        attempt_id=first_text(span.attributes, _ATTEMPT),
        first_token_ms=milliseconds(span.attributes.get(_FIRST_CHUNK_S)),
        summary=summary,
    )


def usage_of(attributes: Mapping[str, Value]) -> Usage:
    """Token counts by the first spelling that is there, with the convention they follow."""
    given = first_count(attributes, INPUT_TOKENS)
    cached = first_count(attributes, CACHED_TOKENS)
    written = first_count(attributes, WRITTEN_TOKENS)
    declared = attributes.get(INHERITED)
    follows = convention_of(str(declared) if declared else None, given, cached, written)
    output = first_count(attributes, OUTPUT_TOKENS)
    if given is None and cached is None and written is None:
        follows = Convention.UNSAID
    return Usage(given, cached, written, output, follows)


def first_count(attributes: Mapping[str, Value], names: Iterable[str]) -> int | None:
    """A whole number from 0, of the first of these names that holds one."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, bool | str | None) or not 0 <= value <= _LARGEST:
            continue
        if value == int(value):
            return int(value)
    return None


def first_text(attributes: Mapping[str, Value], names: Iterable[str]) -> str:
    """The first of these that is there, else empty."""
    return next((str(attributes[name]) for name in names if name in attributes), "")


def milliseconds(seconds: Value | None) -> float | None:
    """Seconds as the conventions write them; None for what is no duration."""
    if isinstance(seconds, int | float) and 0 <= seconds < _LARGEST:
        return seconds * 1e3
    return None
