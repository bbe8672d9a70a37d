"""Step 1 of a decision: measure the request against its policy."""

from orchid.engine.admission.cell import Option
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest, Reason, Shape


def shape_of(request: AdmissionRequest, policy: CompiledPolicy) -> Shape | Reason:
    """The request's tokens, deadline, route and segment, or the reason why it has none.

    A request of an unknown class takes the declared conservative route, priced at the dearest.
    """
    shape = measured(request, policy)
    return unserved(shape, policy) or shape


def measured(request: AdmissionRequest, policy: CompiledPolicy) -> Shape:
    """What the request said of itself, and the class's figures for what it did not say."""
    cell = policy.table.cell(request)
    given, cap, deadline_ms = request.input_tokens, request.max_output_tokens, request.deadline_ms
    shape = Shape(
        request,
        cell,
        cell.input_tokens if given is None else given,
        cell.output_tokens if cap is None else cap,
        cell.deadline_ms if deadline_ms is None else deadline_ms,
    )
    return shape if request.first_arrived_ms is None else _continued(shape)


def _continued(shape: Shape) -> Shape:
    """A deferred request that came back has its own deadline, and never more than its class's."""
    request, cell = shape.request, shape.cell
    if cell.deferral is None or request.first_arrived_ms is None:
        return shape
    left_ms = request.first_arrived_ms + cell.deferral.deadline_ms - request.arrived_ms
    deadline_ms = max(0.0, min(shape.deadline_ms, left_ms))
    return Shape(request, cell, shape.input_tokens, shape.output_tokens, deadline_ms)


def unserved(shape: Shape, policy: CompiledPolicy) -> Reason | None:
    """Why no route could take this shape, at any time.

    An unknown class says its lengths itself, and is held to the hard limits at once.
    """
    cell, request = shape.cell, shape.request
    if cell.refused is not None:
        return cell.refused
    if shape.input_tokens < 0 or shape.output_tokens < 0:
        return Reason.SHAPE_OVER_LIMIT
    if cell.known:
        return None
    if request.input_tokens is None or request.max_output_tokens is None:
        return Reason.UNKNOWN_CLASS
    over = shape.input_tokens + shape.output_tokens > policy.live_tokens_of_request
    return Reason.SHAPE_OVER_LIMIT if over else None


def output_allowed(shape: Shape, ladder: Ladder) -> tuple[int, bool]:
    """Output that is reserved, and whether it is less than that because the ladder caps it.

    An approved percentile is reserved instead of the cap; an overloaded fleet allows less still.
    """
    cell, allowed = shape.cell, shape.output_tokens
    if cell.reserved_output_tokens is not None:
        allowed = min(allowed, cell.reserved_output_tokens)
    most = cell.capped_output_tokens
    if most is not None and most < allowed and ladder.caps_output(cell.route):
        return most, True
    return allowed, False


def trimmed(option: Option, output_tokens: int) -> int:
    """Input that is left of one too long for the window; 0 where the route refuses it."""
    return max(0, option.window_tokens - output_tokens) if option.served.trims else 0
