"""Step 1 of a decision: measure the request against its policy."""

from orchid.engine.admission.policy import CompiledPolicy, RoutePolicy
from orchid.engine.admission.request import AdmissionRequest, Reason, Shape
from orchid.engine.segments import segment_of
from orchid.engine.timing import deadline_ms


def shape_of(request: AdmissionRequest, policy: CompiledPolicy) -> Shape | Reason:
    """The request's tokens, deadline, route and segment, or the reason why it has none.

    A request of an unknown class takes the declared conservative route, priced at the dearest.
    """
    document = policy.document
    traffic = document.classes.get(request.class_)
    route = traffic.model if traffic else document.admission.conservative_route
    if route is None:
        return Reason.UNKNOWN_CLASS
    given, cap = request.input_tokens, request.max_output_tokens
    if traffic is None and (given is None or cap is None):
        return Reason.UNKNOWN_CLASS
    input_tokens = given if given is not None else traffic.input_tokens if traffic else 0
    output_tokens = cap if cap is not None else traffic.max_output_tokens if traffic else 0
    population = document.contract.population
    extra = dict(request.segment)
    if request.tenant_class:
        extra.setdefault("tenant_class", request.tenant_class)
    return Shape(
        request=request,
        class_known=traffic is not None,
        route=route,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        min_output_tokens=traffic.min_output_tokens if traffic else None,
        deadline_ms=request.deadline_ms or deadline_ms(document, request.class_),
        dimensions=segment_of(document, request.class_, input_tokens, output_tokens, extra),
        region=request.region or (population.region if population else None),
    )


def fits_context(route: RoutePolicy, shape: Shape, output_tokens: int) -> bool:
    """Input and reserved output share one context window."""
    tokens = shape.input_tokens + output_tokens
    return route.context_tokens is None or tokens <= route.context_tokens
