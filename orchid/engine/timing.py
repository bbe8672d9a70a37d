"""How long one request takes on a warm replica by the declared timing of its model."""

from orchid.engine.document.demand import Timing
from orchid.engine.document.model import PolicyDocument


def prefill_ms(timing: Timing, input_tokens: int, cached_tokens: int = 0) -> float:
    """Reading of what the prefix cache does not hold."""
    return max(input_tokens - cached_tokens, 0) / timing.prefill_tokens_per_s * 1000.0


def decode_ms(timing: Timing, output_tokens: int) -> float:
    return output_tokens * timing.decode_ms_per_token


def service_ms(
    timing: Timing, input_tokens: int, output_tokens: int, cached_tokens: int = 0
) -> float:
    """Fixed part, transfer, prefill and decode of one request alone; no waiting in it."""
    work = prefill_ms(timing, input_tokens, cached_tokens) + decode_ms(timing, output_tokens)
    return timing.fixed_ms + timing.transfer_ms + work


def alone_ms(
    document: PolicyDocument,
    route: str,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
) -> float | None:
    """Least completion of a shape on a route, post-model reserve included; None without timing."""
    timing = document.models[route].timing
    if timing is None:
        return None
    served = service_ms(timing, input_tokens, output_tokens, cached_tokens)
    return served + document.contract.post_model_reserve_ms


def deadline_ms(document: PolicyDocument, cls: str | None) -> int:
    """The class's own deadline, else the contract's."""
    traffic = document.classes.get(cls) if cls is not None else None
    own = traffic.deadline_ms if traffic else None
    return own or document.contract.deadline_ms
