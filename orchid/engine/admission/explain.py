"""Every question put to every option, with its arithmetic in words.

The quantities are those of the decision, from the same functions; only here none of them stops at
the first no. An option ends where what follows has no figure: without a replica there is no wait,
without a bound that fits there is no work to measure.
"""

from collections.abc import Iterator

from orchid.engine.admission.explain_case import OptionCase
from orchid.engine.admission.explain_option import constraints_of
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.refusal import deferral
from orchid.engine.admission.request import Constraint, Reason, Shape
from orchid.engine.admission.shape import unserved
from orchid.engine.admission.state import AdmissionState
from orchid.engine.segments import segment_key

OVER_LIMIT = "its lengths or its modality are outside what is served"


def explained(
    shape: Shape, state: AdmissionState, policy: CompiledPolicy, ladder: Ladder, now_ms: float
) -> tuple[Constraint, ...]:
    """The constraints of the request, then of each option in the order in which it is tried."""
    cell = shape.cell
    reason = unserved(shape, policy)
    if reason is not None:
        return (Constraint(cell.route, "shape", reason, _unserved(shape, reason)),)
    options = cell.compact_first if ladder.compact_first(cell.route) else cell.options
    cases = (OptionCase(option, shape, state, policy, ladder, now_ms) for option in options)
    found = [constraint for case in cases for constraint in constraints_of(case)]
    return (*_of_ladder(shape, policy, ladder, now_ms), *found, *_prohibited(shape))


def _unserved(shape: Shape, reason: Reason) -> str:
    """Why no route could take the shape; what an undeclared class has to say for itself."""
    request, route = shape.request, shape.cell.route
    if reason is Reason.SHAPE_OVER_LIMIT:
        return OVER_LIMIT
    if not route:
        return "the class is not declared, and no conservative route takes what is not"
    given = {
        "input_tokens": request.input_tokens,
        "max_output_tokens": request.max_output_tokens,
    }
    absent = " and ".join(name for name, tokens in given.items() if tokens is None)
    return f"the class is not declared: the conservative route {route} takes it with {absent}"


def _of_ladder(
    shape: Shape, policy: CompiledPolicy, ladder: Ladder, now_ms: float
) -> Iterator[Constraint]:
    """What a rung says before any option is tried."""
    route, purpose = shape.cell.route, shape.cell.purpose
    if ladder.stops(purpose):
        text = f"the rung {ladder.name} takes no {purpose} work"
        yield Constraint(route, "options", Reason.OVERLOAD, text)
    elif ladder.defers_async and deferral(shape, policy, now_ms) is not None:
        text = f"the rung {ladder.name} puts off work that may wait"
        yield Constraint(route, "options", Reason.OVERLOAD, text)


def _prohibited(shape: Shape) -> Iterator[Constraint]:
    segment = segment_key(shape.dimensions) or "this request"
    for route in shape.cell.prohibited:
        text = f"no rule lets {segment} fall back from {shape.cell.route} to it"
        yield Constraint(route, "options", Reason.FALLBACK_PROHIBITED, text)
