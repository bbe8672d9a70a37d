"""A named fault of a document that is well formed but contradicts itself."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Literal

from orchid.engine.capacity import Load, trials
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import FallbackRule
from orchid.engine.pricing import teu
from orchid.engine.relief import cheapest_teu
from orchid.engine.routing import class_route
from orchid.engine.segments import Where, bucket_names
from orchid.engine.selector_index import SelectorIndex, positions
from orchid.engine.timing import alone_ms

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What contradicts, where, with the arithmetic in its text. An error blocks a proposal."""

    code: str
    severity: Severity
    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class RouteUtility:
    """The utility that evidence gives a route in a segment."""

    route: str
    where: Where
    utility: float


@dataclass(frozen=True, slots=True)
class Arrival:
    """What requests of one class can look like; `cls` None is a class that nobody declared.

    A dimension that `where` doesn't name may have any value: the caller brings it.
    """

    cls: str | None
    route: str
    where: Where


@dataclass(frozen=True)
class Subject:
    """The document that is checked, what it follows, and what is known of its routes."""

    document: PolicyDocument
    base: PolicyDocument | None = None
    evidence: tuple[RouteUtility, ...] = field(default=())

    @cached_property
    def routes(self) -> dict[str, str]:
        """The route that each class asks for, rules considered."""
        return {name: class_route(self.document, name) for name in self.document.classes}

    @cached_property
    def trials(self) -> dict[str, Load]:
        """The loads that every proposal is read against."""
        return trials(self.document)

    @cached_property
    def least_teu_per_s(self) -> Decimal:
        """Declared demand if all that may fall back to a cheaper route does."""
        classes = self.document.classes
        return sum(
            (
                cheapest_teu(self.document, name, {route, *(to for _, to in self.fallbacks(name))})
                * classes[name].arrivals_per_s
                for name, route in self.routes.items()
            ),
            Decimal(),
        )

    @cached_property
    def arrivals(self) -> tuple[Arrival, ...]:
        """Every kind of request that the document lets in."""
        document = self.document
        found = [
            Arrival(name, self.routes[name], {**traffic.dimensions, **self._buckets})
            for name, traffic in document.classes.items()
        ]
        if document.admission.conservative_route is not None:
            found.append(Arrival(None, document.admission.conservative_route, self._buckets))
        return tuple(found)

    @cached_property
    def _buckets(self) -> dict[str, tuple[str, ...]]:
        return {name: bucket_names(edges) for name, edges in self.document.segments.buckets.items()}

    @cached_property
    def arriving(self) -> SelectorIndex:
        return SelectorIndex([arrival.where for arrival in self.arrivals])

    @cached_property
    def floors(self) -> SelectorIndex:
        return SelectorIndex([floor.where for floor in self.document.segments.floors])

    @cached_property
    def denials(self) -> SelectorIndex:
        return SelectorIndex([rule.where for rule in self.document.fallback if rule.deny])

    @cached_property
    def allowing(self) -> tuple[tuple[int, FallbackRule], ...]:
        """The rules that allow a fallback, with their places in the document."""
        return tuple((i, rule) for i, rule in enumerate(self.document.fallback) if not rule.deny)

    def pairs(self) -> Iterator[tuple[int, str, str]]:
        """Place, asked route and other route of each rule between two routes with a model."""
        models = self.document.models
        for i, rule in self.allowing:
            if rule.from_ in models and rule.to in models:
                yield i, str(rule.from_), str(rule.to)

    @cached_property
    def allowances(self) -> SelectorIndex:
        return SelectorIndex([rule.where for _, rule in self.allowing])

    def fallbacks(self, cls: str) -> Iterator[tuple[int, str]]:
        """Places and routes with a model that may serve some requests of the class instead."""
        dimensions, asked = self.document.classes[cls].dimensions, self.routes[cls]
        if self.denials.covering(dimensions):
            return
        for position in positions(self.allowances.overlapping(dimensions)):
            i, rule = self.allowing[position]
            if rule.from_ == asked and rule.to is not None and rule.to in self.document.models:
                yield i, rule.to

    def alone_ms(self, cls: str, route: str) -> float | None:
        """Least completion of the class's shape on a route, reserve included."""
        traffic = self.document.classes[cls]
        return alone_ms(self.document, route, traffic.input_tokens, traffic.max_output_tokens)

    def in_flight(self, cls: str) -> float | None:
        """Requests of the class in service at once, by Little's law; None without timing."""
        alone = self.alone_ms(cls, self.routes[cls])
        arrivals = float(self.document.classes[cls].arrivals_per_s)
        return None if alone is None else arrivals * alone / 1000.0

    def teu(self, cls: str) -> Decimal:
        """Price of the class's declared shape, its whole output cap included."""
        traffic = self.document.classes[cls]
        lengths = traffic.input_tokens, traffic.max_output_tokens
        return teu(self.document.demand, self.routes[cls], *lengths)

    def live_tokens(self, cls: str) -> int:
        """Tokens whose cache one request of the class holds at its end."""
        traffic = self.document.classes[cls]
        return traffic.input_tokens + traffic.max_output_tokens


Findings = Iterator[Finding]
Told = Iterator[tuple[str, str]]
"""JSON pointer and text of each finding of one check; the check's name is the code."""
Check = Callable[[Subject], Told]


def names(found: Iterable[str], most: int = 5) -> str:
    """A few of them, and how many more there are."""
    every = list(found)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
