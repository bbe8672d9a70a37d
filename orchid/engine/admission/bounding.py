"""Step 4 of a decision, for output that may be bounded: how much of it is done in time?"""

import math

from orchid.engine.admission.cell import Option
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Shape


def uncached(shape: Shape, input_tokens: int) -> int:
    """Input that no prefix cache holds."""
    return max(0, input_tokens - shape.request.cached_input_tokens)


def bounded_tokens(
    policy: CompiledPolicy,
    option: Option,
    shape: Shape,
    asked: int,
    queue_ms: float,
    now_ms: float,
) -> int | None:
    """The output that whole decode quanta allow in the time left, below what was asked for.

    None: all of it fits, or less than the smallest useful bound.
    """
    least, quantum = shape.min_output_tokens, option.served.quantum_tokens
    quantum_ms = quantum * option.decode_ms
    if least is None or quantum_ms <= 0:
        return None
    prefill_ms = uncached(shape, shape.input_tokens) * option.prefill_ms
    before = now_ms + queue_ms + (option.fixed_ms + prefill_ms) + policy.reserve_ms
    if before > shape.due_ms:
        return None
    # A quantum that fits exactly must not be lost to rounding of the times before it.
    quanta = (shape.due_ms - before) / quantum_ms + 1e-9
    if quanta * quantum >= asked + quantum:  # without end where a token takes next to no time
        return None
    tokens = math.floor(quanta) * quantum
    return tokens if least <= tokens < asked else None
