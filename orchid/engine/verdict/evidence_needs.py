"""The cells that evidence has to cover: what serves, and what the document lets serve. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import fallbacks_for, segment_key, segment_of


class Why(StrEnum):
    """Why a cell is needed, the gravest reason first."""

    TRAFFIC = "serves"
    FALLBACK = "may serve instead"
    CLASS = "is the route of a class"


@dataclass(frozen=True, slots=True)
class Need:
    """A route under one manifest in one segment; `responses` are those that were observed."""

    route: str
    manifest: str
    dims: Mapping[str, str]
    why: Why
    responses: int = 0

    @property
    def key(self) -> str:
        return segment_key(self.dims)

    @property
    def place(self) -> tuple[str, str, str]:
        """What makes two needs the same cell."""
        return self.key, self.route, self.manifest


@dataclass(frozen=True, slots=True)
class Seen:
    """Responses that one cell of the traffic delivered."""

    dims: Mapping[str, str]
    route: str
    manifest: str
    responses: int


def needs(document: PolicyDocument, seen: Iterable[Seen], *, live: bool) -> list[Need]:
    """Every cell once, by segment and route.

    `live` says that the traffic was served under this very document, so that its own manifests
    count; else the document's would stand in their place.
    """
    pinned = {route: manifest_digest(model) for route, model in document.models.items()}
    found: dict[tuple[str, str, str], Need] = {}
    for need in (*_observed(document, pinned, seen, live), *_declared(document, pinned)):
        known = found.setdefault(need.place, need)
        if known is not need and known.why is need.why is Why.TRAFFIC:
            found[need.place] = replace(known, responses=known.responses + need.responses)
    return [found[place] for place in sorted(found)]


def _observed(
    document: PolicyDocument, pinned: Mapping[str, str], seen: Iterable[Seen], live: bool
) -> Iterator[Need]:
    allowed = []
    for one in seen:
        manifest = one.manifest if live else pinned.get(one.route, "")
        if manifest and one.responses:
            yield Need(one.route, manifest, one.dims, Why.TRAFFIC, one.responses)
        allowed += list(_fallbacks(document, pinned, one.route, one.dims))
    yield from allowed


def _declared(document: PolicyDocument, pinned: Mapping[str, str]) -> Iterator[Need]:
    """Classes whose dimensions leave out what is only counted are covered by what takes them."""
    for name, traffic in document.classes.items():
        dims = segment_of(document, name, traffic.input_tokens, None, {})
        yield from _fallbacks(document, pinned, traffic.model, dims)
        if traffic.model in pinned:
            yield Need(traffic.model, pinned[traffic.model], dims, Why.CLASS)


def _fallbacks(
    document: PolicyDocument, pinned: Mapping[str, str], route: str, dims: Mapping[str, str]
) -> Iterator[Need]:
    for to in fallbacks_for(document, route, dims):
        if to in pinned:
            yield Need(to, pinned[to], dims, Why.FALLBACK)
