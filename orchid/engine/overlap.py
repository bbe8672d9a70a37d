"""Whether other versions of a document's models fit beside them on the devices of one pool.

A ledger is of one device, whose line of weights holds the largest model that it may serve. A device
that may hold several models may come to hold the other versions of as many routes.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.demand import Model
from orchid.engine.document.model import PolicyDocument
from orchid.engine.memory import Residency, residency


@dataclass(frozen=True, slots=True)
class Overlap:
    """What the fullest device would hold: its ledger, and other versions by weights in GiB."""

    ledger: Residency
    routes: tuple[str, ...]
    others: Mapping[str, Decimal]
    unknown: tuple[str, ...]
    """Routes with another version of which nobody declares how large it is."""

    @property
    def needed_gib(self) -> Decimal:
        return self.ledger.with_second(sum(self.others.values(), Decimal()))

    @property
    def fits(self) -> bool:
        return self.needed_gib <= self.ledger.device_gib


def overlap(coming: PolicyDocument, held: Collection[PolicyDocument]) -> Overlap | None:
    """The fullest device while a pool that holds these generations takes up another one.

    None where nobody declares a residency ledger. A version that doesn't say how large it is counts
    as large as the one that comes; where that one doesn't either, its route is unknown.
    """
    ledgers = (residency(one.fleet) for one in (coming, *held))
    ledger = next((one for one in ledgers if one is not None), None)
    if ledger is None:
        return None
    by_route = {route: dict(_others(route, coming, held)) for route in coming.models}
    fullest = sorted(by_route, key=lambda route: (-sum(by_route[route].values()), route))
    routes = tuple(r for r in fullest[: coming.fleet.max_resident_models or 1] if by_route[r])
    others = {weights: gib for route in routes for weights, gib in by_route[route].items()}
    unknown = tuple(route for route in coming.models if _is_unknown(route, coming, held))
    return Overlap(ledger, routes, others, unknown)


def _others(
    route: str, coming: PolicyDocument, held: Collection[PolicyDocument]
) -> Iterator[tuple[str, Decimal]]:
    """A route's other versions, each once though several generations hold it."""
    for old in _other_versions(route, coming, held):
        gib = old.weights_gib or coming.models[route].weights_gib
        if gib is not None:
            yield old.weights, gib


def _is_unknown(route: str, coming: PolicyDocument, held: Collection[PolicyDocument]) -> bool:
    olds = _other_versions(route, coming, held)
    return coming.models[route].weights_gib is None and any(o.weights_gib is None for o in olds)


def _other_versions(
    route: str, coming: PolicyDocument, held: Collection[PolicyDocument]
) -> Iterator[Model]:
    olds = (one.models[route] for one in held if route in one.models)
    return (old for old in olds if old.weights != coming.models[route].weights)
