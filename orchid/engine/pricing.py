"""Requests priced in token-equivalents, because a request count says nothing of the work."""

from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.demand import Demand
from orchid.engine.document.model import PolicyDocument


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


@dataclass(frozen=True, slots=True)
class ClassDemand:
    """What one class asks of the fleet, and its part of the whole."""

    teu_per_request: Decimal
    requests_per_s: Decimal
    teu_per_s: Decimal
    share_of_requests: Decimal
    share_of_teu: Decimal


def demand_by_class(document: PolicyDocument) -> dict[str, ClassDemand]:
    """Demand of every class by its declared shape and arrivals, on its requested route."""
    prices = {
        name: teu(document.demand, c.model, c.input_tokens, c.max_output_tokens)
        for name, c in document.classes.items()
    }
    rates = {name: c.arrivals_per_s for name, c in document.classes.items()}
    work = {name: prices[name] * rates[name] for name in prices}
    requests, total = sum(rates.values(), Decimal()), sum(work.values(), Decimal())
    return {
        name: ClassDemand(
            prices[name],
            rates[name],
            work[name],
            _part(rates[name], requests),
            _part(work[name], total),
        )
        for name in prices
    }


def _part(part: Decimal, whole: Decimal) -> Decimal:
    return part / whole if whole else Decimal()


def offered_requests_per_s(document: PolicyDocument) -> Decimal:
    return sum((c.arrivals_per_s for c in document.classes.values()), Decimal())


def offered_teu_per_s(document: PolicyDocument) -> Decimal:
    """Declared steady demand of all classes."""
    return sum((d.teu_per_s for d in demand_by_class(document).values()), Decimal())
