"""vLLM's span of one request: `llm_request`, with the engine's own latencies in seconds.

It ends when the request is done in the engine, so that the span is a little longer than
`gen_ai.latency.e2e`, which the engine measured itself and which is taken for the request's time.
"""

from dataclasses import dataclass

from orchid.formats.gen_ai import milliseconds
from orchid.formats.otlp import Span

_NAME = "llm_request"
_LATENCY = "gen_ai.latency."


@dataclass(frozen=True)
class Latencies:
    """Milliseconds by vLLM's own clocks; None for what it did not tell.

    Prefill and decode make up the time in the model; the queue comes before both.
    """

    queue_ms: float | None
    prefill_ms: float | None
    decode_ms: float | None
    first_token_ms: float | None
    request_ms: float | None

    @property
    def model_ms(self) -> float | None:
        if self.prefill_ms is None or self.decode_ms is None:
            return None
        return self.prefill_ms + self.decode_ms


def is_request(span: Span) -> bool:
    """Whether vLLM wrote it: by its name, or by latencies that nobody else spells so."""
    return span.name == _NAME or any(name.startswith(_LATENCY) for name in span.attributes)


def latencies(span: Span) -> Latencies:
    def told(name: str) -> float | None:
        return milliseconds(span.attributes.get(_LATENCY + name))

    return Latencies(
        queue_ms=told("time_in_queue"),
        prefill_ms=told("time_in_model_prefill"),
        decode_ms=told("time_in_model_decode"),
        first_token_ms=told("time_to_first_token"),
        request_ms=told("e2e"),
    )
