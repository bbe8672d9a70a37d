"""Names in the document that must exist elsewhere in it: routes, dimensions, classes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orchid.engine.document.model import PolicyDocument


@dataclass(frozen=True, slots=True)
class Dangling:
    """A name at `pointer` that none of `allowed` spells."""

    pointer: str
    found: str
    allowed: tuple[str, ...]


def dangling(document: PolicyDocument) -> list[Dangling]:
    """Every reference to a route, class or dimension that the document does not have."""
    routes = tuple(document.models)
    named = [
        *_unknown(_route_references(document), routes),
        *_unknown(_dimension_references(document), document.segments.dimensions),
    ]
    classes = [(f"/examples/{i}/given/class", e.given.class_) for i, e in _each(document.examples)]
    strata = [(f"/rollout/strata/{i}", name) for i, name in _each(document.rollout.strata)]
    return [
        *named,
        *_unknown(iter(classes), tuple(document.classes)),
        *_unknown(iter(strata), ("route", *document.segments.dimensions)),
    ]


def _each(items: tuple[Any, ...]) -> Iterator[tuple[int, Any]]:
    return iter(enumerate(items))


def _unknown(references: Iterator[tuple[str, str]], allowed: tuple[str, ...]) -> list[Dangling]:
    return [Dangling(at, name, allowed) for at, name in references if name not in allowed]


def _route_references(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for route in document.demand.model_factor:
        yield f"/demand/model_factor/{route}", route
    for name, traffic in document.classes.items():
        yield f"/classes/{name}/model", traffic.model
    for i, rule in enumerate(document.fallback):
        for key, route_name in (("from", rule.from_), ("to", rule.to)):
            if route_name is not None:
                yield f"/fallback/{i}/{key}", route_name
    for i, routing in enumerate(document.routing.rules):
        yield f"/routing/rules/{i}/route", routing.route
    yield from _single_routes(document)


def _single_routes(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    cascade = document.routing.cascade
    if cascade is not None:
        yield "/routing/cascade/small", cascade.small
        yield "/routing/cascade/large", cascade.large
    if document.admission.conservative_route is not None:
        yield "/admission/conservative_route", document.admission.conservative_route
    for route in document.fleet.replicas:
        yield f"/fleet/replicas/{route}", route


def selectors(document: PolicyDocument) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every selector of the document with the pointer of its `where`."""
    yield "/contract/eligible", document.contract.eligible
    for i, segment in enumerate(document.gates.segments):
        yield f"/gates/segments/{i}/where", segment.where
    for i, floor in enumerate(document.segments.floors):
        yield f"/segments/floors/{i}/where", floor.where
    for i, rule in enumerate(document.fallback):
        yield f"/fallback/{i}/where", rule.where
    for i, routing in enumerate(document.routing.rules):
        yield f"/routing/rules/{i}/where", routing.where


def _dimension_references(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for pointer, where in selectors(document):
        for dimension in where:
            yield f"{pointer}/{dimension}", dimension
    for dimension in document.segments.buckets:
        yield f"/segments/buckets/{dimension}", dimension
    for name, traffic in document.classes.items():
        for dimension in traffic.dimensions:
            yield f"/classes/{name}/dimensions/{dimension}", dimension
