"""The constraints of one option in words, from the quantities that a decision goes by."""

from collections.abc import Iterator

from orchid.engine.admission import explain_room
from orchid.engine.admission.bounding import bounded_tokens, uncached
from orchid.engine.admission.explain_case import OptionCase, tenths
from orchid.engine.admission.place import Place, place
from orchid.engine.admission.pool import Pool
from orchid.engine.admission.request import STEPS, Constraint, Reason
from orchid.engine.admission.shape import output_allowed, trimmed

FORBIDDEN = {
    Reason.CELL_UNCALIBRATED: "the demand model is not calibrated for this shape",
    Reason.PRIVACY_CELL: "the route does not serve this privacy cell",
    Reason.SHAPE_OVER_LIMIT: "the route does not read this modality",
}
"""What the document forbids whatever the moment."""
NOWHERE = {
    Reason.NO_WARM_REPLICA: "no replica with slots is warm for it in the request's region",
    Reason.MANIFEST_INCOMPATIBLE: "no warm replica reports the manifest of this generation",
    Reason.PRIVACY_CELL: "no warm replica serves the request's privacy cell",
    Reason.BREAKER_OPEN: "the breakers of all its replicas are open",
    Reason.SIGNALS_STALE: "its replicas say nothing, and all run their safe floor already",
}


def constraints_of(case: OptionCase) -> Iterator[Constraint]:
    """Steps 1 to 8, as a decision takes them."""
    option, shape = case.option, case.shape
    if option.refused is not None:
        yield case.said(STEPS[option.refused], option.refused, FORBIDDEN[option.refused])
        return
    if option.modelless:
        yield _time(case, 0.0, 0.0)
        return
    case.input_tokens = shape.input_tokens
    case.output_tokens, capped = output_allowed(shape, case.ladder)
    if capped and not option.bounded:
        text = f"the rung {case.ladder.name} allows {case.output_tokens:,} tokens of output"
        yield case.said("options", None, text)
    if not option.bounded:
        yield (window := _window(case))
        if window.reason is not None:
            return
    yield from _placed(case)


def _placed(case: OptionCase) -> Iterator[Constraint]:
    """From step 3 on."""
    pool = case.state.pools.get(case.policy.pool)
    found = Reason.NO_WARM_REPLICA if pool is None else _found(case, pool)
    if pool is None or not isinstance(found, tuple):
        assert isinstance(found, Reason)
        yield case.said("place", found, NOWHERE[found])
        return
    _, case.queue_ms, waits, _, _ = found
    yield _somewhere(case, pool, found)
    if case.option.bounded:
        bound, is_set = _bound(case)
        yield bound
        if not is_set:
            return
        yield _window(case)
    else:
        yield _time_of_work(case)
    yield from explain_room.memory(case, pool, found)
    yield from explain_room.budgets(case)
    yield from explain_room.shares(case, room=not waits)
    yield explain_room.queue(case, pool, found)


def _found(case: OptionCase, pool: Pool) -> Place | Reason:
    request, policy = case.shape.request, case.policy
    tokens, spare_ms = case.live_tokens, case.spare_ms()
    return place(case.option, request, tokens, spare_ms, pool, policy, case.now_ms)


# 1 shape
def _window(case: OptionCase) -> Constraint:
    option, window = case.option, case.option.served.context_tokens
    if window is None:
        return case.said("shape", None, f"{case.lengths()} tokens, no context window declared")
    over, sum_ = case.live_tokens > window, case.lengths()
    left = trimmed(option, case.output_tokens) if over and not option.bounded else 0
    if left:
        case.input_tokens = left
        return case.said("shape", None, f"{sum_} > {window:,}: input is trimmed to {left:,}")
    return case.bounds("shape", over, Reason.CONTEXT_WINDOW, sum_, f"{window:,} tokens of context")


# 3 place
def _somewhere(case: OptionCase, pool: Pool, found: Place) -> Constraint:
    replica, _, _, _, reading = found
    age = f", {tenths(reading.age_ms)} ms old" if reading.age_ms is not None else ""
    warm = len(pool.by_route[case.option.route].replicas)
    text = f"{replica.name}, one of {warm:,} warm for it; signal {reading.standing}{age}"
    return case.said("place", None, text)


# 4 time
def _time_of_work(case: OptionCase) -> Constraint:
    option, input_tokens = case.option, uncached(case.shape, case.input_tokens)
    prefill_ms = input_tokens * option.prefill_ms
    decode_ms = case.output_tokens * option.decode_ms
    case.service_ms = option.fixed_ms + prefill_ms + decode_ms
    return _time(case, prefill_ms, decode_ms)


def _time(case: OptionCase, prefill_ms: float, decode_ms: float) -> Constraint:
    reserve_ms = case.policy.reserve_ms
    ends_ms = case.now_ms + case.queue_ms + case.service_ms
    over = ends_ms + reserve_ms > case.shape.due_ms
    parts = f"queue {tenths(case.queue_ms)}"
    if case.option.fixed_ms:
        parts += f" + fixed {tenths(case.option.fixed_ms)}"
    parts += f" + prefill {tenths(prefill_ms)} + decode {tenths(decode_ms)}"
    total_ms = ends_ms + reserve_ms - case.now_ms
    return case.bounds(
        "time",
        over,
        Reason.DEADLINE_INFEASIBLE,
        f"{parts} + reserve {tenths(reserve_ms)} = {tenths(total_ms)} ms",
        f"{tenths(case.shape.due_ms - case.now_ms)} ms left",
    )


def _bound(case: OptionCase) -> tuple[Constraint, bool]:
    """What whole decode quanta fit in the time left, and whether that sets a bound."""
    option, shape, asked = case.option, case.shape, case.output_tokens
    fitting = bounded_tokens(case.policy, option, shape, asked, case.queue_ms, case.now_ms)
    prefill_ms = uncached(shape, case.input_tokens) * option.prefill_ms
    before_ms = case.queue_ms + option.fixed_ms + prefill_ms + case.policy.reserve_ms
    left_ms = shape.due_ms - case.now_ms - before_ms
    quantum = option.served.quantum_tokens
    sum_ = (
        f"{tenths(left_ms)} ms left for decoding, quanta of {quantum:,} tokens"
        f" take {tenths(quantum * option.decode_ms)} ms"
    )
    if fitting is None and asked * option.decode_ms <= left_ms:
        whole = f"the whole output of {asked:,} tokens fits, no bound is needed"
        return case.said("time", None, f"{sum_}: {whole}"), False
    if fitting is None:
        least = f"no bound from {shape.min_output_tokens or 0:,} up to under {asked:,} tokens"
        return case.said("time", Reason.DEADLINE_INFEASIBLE, f"{sum_}: {least}"), False
    case.output_tokens = fitting
    case.service_ms = option.service_ms(uncached(shape, case.input_tokens), fitting)
    return case.said("time", None, f"{sum_}: {fitting:,} of {asked:,} tokens"), True
