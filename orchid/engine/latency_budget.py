"""Whether a feature's request fits its deadline, term by term, and what would still fit.

Every term is a bound on its own part of the way, so their sum bounds the whole. Percentiles of
stages are never added: the sum of 95th percentiles is no percentile of the sum. What a fleet does
under load is measured on whole responses, by the gates.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.arithmetic import completion_ms, first_token_ms
from orchid.engine.document.demand import Model, Timing
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import class_route
from orchid.engine.timing import deadline_ms

#: So that a length which fits exactly is not lost to the rounding of the times before it.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Feature:
    """What the document doesn't know of the way, as bounds in milliseconds; and lengths to try.

    The clock starts when authentication ends, so `network_ms` is what lies inside it: calls between
    services, not the client's own line. `queue_ms` None takes the wait that the document aims at.
    """

    network_ms: float = 0.0
    retrieval_ms: float = 0.0
    queue_ms: float | None = None
    cached_tokens: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """One part of the way: its bound, and how the figure comes about."""

    name: str
    ms: float
    text: str


@dataclass(frozen=True, slots=True)
class LatencyBudget:
    """The bounds against the deadline.

    `largest_output` and `largest_input` are what would still fit with the other length as it is,
    the context window included; 0 where nothing does. `first_token_ms` and `completion_ms` are the
    answer's own times on that way, the reserve not in them.
    """

    cls: str
    route: str
    deadline_ms: float
    input_tokens: int
    output_tokens: int
    terms: tuple[Term, ...]
    first_token_ms: float
    completion_ms: float
    largest_output: int
    largest_input: int

    @property
    def total_ms(self) -> float:
        return sum(term.ms for term in self.terms)

    @property
    def spare_ms(self) -> float:
        """What is left to the deadline; negative where the bounds don't fit it."""
        return self.deadline_ms - self.total_ms

    @property
    def fits(self) -> bool:
        return self.spare_ms >= 0

    @property
    def dominant(self) -> Term:
        """The term that a change would help most."""
        return max(self.terms, key=lambda term: term.ms)


def latency_budget(
    document: PolicyDocument, cls: str, feature: Feature | None = None
) -> LatencyBudget | None:
    """The budget of a class's declared shape on its route; None where no timing is declared."""
    asked = feature or Feature()
    route, traffic = class_route(document, cls), document.classes[cls]
    model = document.models[route]
    if model.timing is None:
        return None
    tokens = traffic.input_tokens if asked.input_tokens is None else asked.input_tokens
    cap = traffic.max_output_tokens if asked.output_tokens is None else asked.output_tokens
    terms = _terms(document, model.timing, asked, tokens, cap)
    spare = deadline_ms(document, cls) - sum(term.ms for term in terms)
    begins = sum(term.ms for term in terms if term.name in BEFORE_PREFILL)
    first = begins + float(_first_token(model.timing, tokens, asked.cached_tokens))
    step = Decimal(str(model.timing.decode_ms_per_token))
    return LatencyBudget(
        cls=cls,
        route=route,
        deadline_ms=float(deadline_ms(document, cls)),
        input_tokens=tokens,
        output_tokens=cap,
        terms=terms,
        first_token_ms=first,
        completion_ms=float(completion_ms(Decimal(str(first)), cap, step)),
        largest_output=_largest_output(model, model.timing, spare, tokens, cap),
        largest_input=_largest_input(model, model.timing, spare, tokens, cap),
    )


BEFORE_PREFILL = frozenset({"network", "retrieval", "queue", "fixed"})


def _terms(
    document: PolicyDocument, timing: Timing, asked: Feature, tokens: int, cap: int
) -> tuple[Term, ...]:
    """The way in its order, each term as admission predicts it."""
    aimed = document.admission.concurrency.target_wait_ms
    queue = asked.queue_ms if asked.queue_ms is not None else float(aimed or 0)
    uncached = max(tokens - asked.cached_tokens, 0)
    prefill = float(_first_token(timing, tokens, asked.cached_tokens))
    decode = cap * timing.decode_ms_per_token
    rate = f"{timing.prefill_tokens_per_s:,.1f}".removesuffix(".0")
    reading = f"{uncached:,} uncached of {tokens:,} tokens at {rate} a second"
    return (
        Term("network", asked.network_ms, "between services, inside the clock"),
        Term("retrieval", asked.retrieval_ms, "required look-ups before the model"),
        Term("queue", queue, "longest wait for a replica"),
        Term("fixed", timing.fixed_ms + timing.transfer_ms, "fixed part and transfer"),
        Term("prefill", prefill, reading),
        Term("decode", decode, f"{cap:,} tokens of {timing.decode_ms_per_token:g} ms"),
        Term(
            "reserve",
            float(document.contract.post_model_reserve_ms),
            "validation and assembly after the model",
        ),
    )


def _first_token(timing: Timing, tokens: int, cached: int) -> Decimal:
    rate = Decimal(str(timing.prefill_tokens_per_s))
    return first_token_ms(tokens, rate, min(cached, tokens))


def _largest_output(model: Model, timing: Timing, spare: float, tokens: int, cap: int) -> int:
    """The cap that uses up the time, at most what the context window leaves."""
    window = max((model.context_tokens or math.inf) - tokens, 0)
    if timing.decode_ms_per_token == 0:
        return _bounded(window if spare >= 0 else 0, cap)
    return _bounded(min(cap + spare / timing.decode_ms_per_token, window), cap)


def _largest_input(model: Model, timing: Timing, spare: float, tokens: int, cap: int) -> int:
    """The prompt that uses up the time, as much of it cached as now."""
    window = max((model.context_tokens or math.inf) - cap, 0)
    more = spare * timing.prefill_tokens_per_s / 1000
    return _bounded(min(tokens + more, window), tokens)


def _bounded(tokens: float, now: int) -> int:
    """Whole tokens, never below none; without any limit what is asked for now."""
    return now if math.isinf(tokens) else max(math.floor(tokens + _ROUNDING), 0)
