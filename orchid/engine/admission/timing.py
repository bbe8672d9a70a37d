"""Step 4 of a decision: can the rest of the work be done before the deadline?"""

import math

from orchid.engine.admission.policy import CompiledPolicy, RoutePolicy
from orchid.engine.admission.request import Prediction, Shape


def predict(route: RoutePolicy, shape: Shape, output_tokens: int, queue_ms: float) -> Prediction:
    """Queue wait, prefill of the uncached input and decode of the whole reserved output."""
    if route.timing is None:
        return Prediction(queue_ms, None, None, None)
    uncached = max(0, shape.input_tokens - shape.request.cached_input_tokens)
    prefill_ms = uncached * route.timing.prefill_ms_per_token
    decode_ms = output_tokens * route.timing.decode_ms_per_token
    service_ms = route.timing.fixed_ms + prefill_ms + decode_ms
    return Prediction(queue_ms, prefill_ms, decode_ms, service_ms)


def ends_ms(prediction: Prediction, now_ms: float) -> float:
    """When the model would have answered. Without declared timing the work takes no known time."""
    return now_ms + prediction.queue_ms + (prediction.service_ms or 0.0)


def in_time(policy: CompiledPolicy, shape: Shape, prediction: Prediction, now_ms: float) -> bool:
    """Whether the answer is there before the deadline with the post-model reserve still in hand."""
    return ends_ms(prediction, now_ms) + policy.reserve_ms <= shape.due_ms


def bounded_tokens(
    policy: CompiledPolicy, route: RoutePolicy, shape: Shape, queue_ms: float, now_ms: float
) -> int | None:
    """The output that whole decode quanta allow in the time left, when the class accepts it.

    None: not below what was asked for, or below the smallest useful bound, or bounds not accepted.
    """
    least = shape.min_output_tokens
    if least is None or not policy.accepts_bounded or route.timing is None:
        return None
    before = ends_ms(predict(route, shape, 0, queue_ms), now_ms) + policy.reserve_ms
    quantum_ms = policy.quantum_tokens * route.timing.decode_ms_per_token
    if before > shape.due_ms or quantum_ms <= 0:
        return None
    # A quantum that fits exactly must not be lost to rounding of the times before it.
    quanta = math.floor((shape.due_ms - before) / quantum_ms + 1e-9)
    tokens = quanta * policy.quantum_tokens
    return tokens if least <= tokens < shape.output_tokens else None
