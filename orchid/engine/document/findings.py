"""A named fault of a document that is well formed but contradicts itself."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import Where

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
class Subject:
    """The document that is checked, what it follows, and what is known of its routes."""

    document: PolicyDocument
    base: PolicyDocument | None = None
    evidence: tuple[RouteUtility, ...] = field(default=())


Findings = Iterator[Finding]
