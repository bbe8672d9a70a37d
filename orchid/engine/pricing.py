"""Requests priced in token-equivalents, because a request count says nothing of the work."""

from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.demand import Demand, TrafficClass
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import class_route
from orchid.engine.segments import INPUT_BUCKET, OUTPUT_BUCKET, bucket_name

ONE = Decimal(1)


class UnpricedModelError(LookupError):
    """The demand model has no factor for this route, so its work has no price."""


def teu(demand: Demand, model: str, input_tokens: int, output_tokens: int) -> Decimal:
    """factor x (input weight x input tokens + output tokens), exactly.

    Admission passes the declared output cap, accounting the tokens that were produced.
    Raises UnpricedModelError for a route without a factor: an unknown price is never zero.
    """
    factor = demand.model_factor.get(model)
    if factor is None:
        raise UnpricedModelError(f"demand {demand.version} has no factor for the model {model}")
    return factor * (demand.input_weight * input_tokens + output_tokens)


def pad_of(
    demand: Demand, route: str, input_bucket: str | None, output_bucket: str | None
) -> Decimal | None:
    """What calibration multiplies a shape's estimates by; None where it disables the shape.

    The first cell that covers the shape speaks, as in admission.
    """
    for cell in demand.cells:
        if (
            cell.route == route
            and cell.input_bucket in (None, input_bucket)
            and cell.output_bucket in (None, output_bucket)
        ):
            return None if cell.disabled else cell.pad or ONE
    return ONE


def reserved_output_tokens(traffic: TrafficClass) -> int:
    """The class's whole output cap, or the percentile of it that was approved for reserving."""
    return traffic.reserve.output_tokens if traffic.reserve else traffic.max_output_tokens


@dataclass(frozen=True, slots=True)
class Charge:
    """TEU of one attempt: reserved at admission, and what it used once it has ended."""

    reserved: Decimal
    used: Decimal | None = None

    @property
    def refunded(self) -> Decimal:
        """What returns to the buckets and budgets that it was taken from; 0 while it runs."""
        return Decimal(0) if self.used is None else max(self.reserved - self.used, Decimal(0))

    @property
    def over_cap(self) -> Decimal:
        """Work beyond the reservation. It is charged too: observed work is never forgiven."""
        return Decimal(0) if self.used is None else max(self.used - self.reserved, Decimal(0))


def reserve(
    demand: Demand, route: str, input_tokens: int, cap_tokens: int, pad: Decimal = ONE
) -> Charge:
    """Hold the price of the output cap, padded where calibration says so."""
    return Charge(pad * teu(demand, route, input_tokens, cap_tokens))


def settle(
    demand: Demand, charge: Charge, route: str, input_tokens: int, output_tokens: int
) -> Charge:
    """Charge what was observed, unpadded: the pad is for what is not known yet."""
    return Charge(charge.reserved, teu(demand, route, input_tokens, output_tokens))


@dataclass(frozen=True, slots=True)
class CapCrossed:
    """The typed stop of an attempt that would go on past its cap.

    What it produced is settled. Going on is `continuation`: another attempt of the same request,
    which reads all that was read and written so far, and is admitted and priced afresh.
    """

    settled: Charge
    continuation: Charge
    input_tokens: int
    cap_tokens: int


def cross_cap(
    demand: Demand,
    charge: Charge,
    route: str,
    input_tokens: int,
    cap_tokens: int,
    more_tokens: int,
    pad: Decimal = ONE,
) -> CapCrossed:
    """Stop an attempt at its cap, and price `more_tokens` of output as a continuation."""
    reads = input_tokens + cap_tokens
    return CapCrossed(
        settled=settle(demand, charge, route, input_tokens, cap_tokens),
        continuation=reserve(demand, route, reads, more_tokens, pad),
        input_tokens=reads,
        cap_tokens=more_tokens,
    )


@dataclass(frozen=True, slots=True)
class ClassDemand:
    """What one class asks of the fleet, and its part of the whole."""

    teu_per_request: Decimal
    requests_per_s: Decimal
    teu_per_s: Decimal
    share_of_requests: Decimal
    share_of_teu: Decimal
    route: str


def demand_by_class(document: PolicyDocument) -> dict[str, ClassDemand]:
    """Demand of every class by its declared shape and arrivals, on the route that it is sent to."""
    priced = {name: class_price(document, name) for name in document.classes}
    rates = {name: c.arrivals_per_s for name, c in document.classes.items()}
    work = {name: priced[name][1] * rates[name] for name in priced}
    requests, total = sum(rates.values(), Decimal()), sum(work.values(), Decimal())
    return {
        name: ClassDemand(
            price,
            rates[name],
            work[name],
            _part(rates[name], requests),
            _part(work[name], total),
            route,
        )
        for name, (route, price) in priced.items()
    }


def class_price(document: PolicyDocument, name: str) -> tuple[str, Decimal]:
    """The route of a class's declared shape and its TEU there, as admission reserves them.

    A shape that calibration disables goes to the conservative route at the dearest price.
    """
    traffic, route, demand = document.classes[name], class_route(document, name), document.demand
    tokens, cap = traffic.input_tokens, reserved_output_tokens(traffic)
    edges = document.segments.buckets
    pad = pad_of(
        demand,
        route,
        _bucket(edges.get(INPUT_BUCKET), tokens),
        _bucket(edges.get(OUTPUT_BUCKET), traffic.max_output_tokens),
    )
    conservative = document.admission.conservative_route
    if pad is None and conservative is not None:
        dearest = max(demand.model_factor, key=lambda model: demand.model_factor[model])
        return conservative, teu(demand, dearest, tokens, cap)
    return route, reserve(demand, route, tokens, cap, ONE if pad is None else pad).reserved


def _bucket(edges: tuple[int, ...] | None, tokens: int) -> str | None:
    return bucket_name(edges, tokens) if edges else None


def _part(part: Decimal, whole: Decimal) -> Decimal:
    return part / whole if whole else Decimal()


def offered_requests_per_s(document: PolicyDocument) -> Decimal:
    return sum((c.arrivals_per_s for c in document.classes.values()), Decimal())


def offered_teu_per_s(document: PolicyDocument) -> Decimal:
    """Declared steady demand of all classes."""
    return sum((d.teu_per_s for d in demand_by_class(document).values()), Decimal())
