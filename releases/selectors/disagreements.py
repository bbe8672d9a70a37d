"""Decisions in which a candidate differs: narrowed to what they were near to, with the reasons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from controlplane import figures
from controlplane.web import CursorPage, paged
from gates.selectors.evidence import book_for, manifests_of
from ingest.models import ShadowRow
from ingest.selectors.shadow import (
    Place,
    close_to,
    disagreements,
    in_places,
    places_of,
)
from ingest.states import ShadowCounted, ShadowMode
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import dims_of, floor_for
from orchid.engine.shadow.differences import NEAR
from policies.models import Product
from policies.selectors import document_of
from releases.models import Publication
from releases.states import ShadowNear


@dataclass(frozen=True)
class Floor:
    """A floor, and what was measured of the route by which the candidate would serve there."""

    least: float
    measured: float | None

    @property
    def said(self) -> str:
        if self.measured is None:
            return f"floor {self.least:g}: nothing measured"
        return f"floor {self.least:g}: measured {self.measured:.3f}"


@dataclass(frozen=True)
class Disagreement:
    """One decision with both sides, and in words what the request was near to."""

    row: ShadowRow
    near: list[str]

    @property
    def difference(self) -> ShadowCounted:
        return ShadowCounted(self.row.difference)


@dataclass(frozen=True)
class Narrowed:
    """What a list is narrowed to; what is empty asks nothing."""

    near: str = ""
    difference: str = ""


class Disagreements:
    """Those of one publication in one mode."""

    def __init__(self, product: Product, publication: Publication, mode: ShadowMode) -> None:
        self.rows = disagreements(product, publication.number, mode)
        self._product, self._publication = product, publication

    def floors(self, now: datetime) -> dict[Place, Floor]:
        """Places with little above their floor, by the evidence in force; none measured is none."""
        digest = self._publication.candidate_digest
        if digest is None:
            return {}
        document = document_of(digest)
        found = _floors(self._product, document, places_of(self.rows), now)
        tight = 1 + document.gates.fragile_margin
        return {
            place: floor
            for place, floor in found.items()
            if floor.measured is None or floor.measured < floor.least * tight
        }

    def page(self, narrowed: Narrowed, floors: Mapping[Place, Floor], cursor: str) -> CursorPage:
        """Newest first; the rows are `Disagreement`s."""
        found = paged(self._narrowed(narrowed, floors), cursor, field="at")
        rows = [Disagreement(row, list(_near(row, floors))) for row in found.rows]
        return CursorPage(rows, found.next_cursor, found.previous_cursor)

    def near_floors(self, floors: Mapping[Place, Floor]) -> int:
        """How many of them fall in these places."""
        return sum(n for place, n in places_of(self.rows).items() if place in floors)

    def _narrowed(self, narrowed: Narrowed, floors: Mapping[Place, Floor]) -> QuerySet[ShadowRow]:
        rows = self.rows
        if narrowed.difference:
            rows = rows.filter(difference=narrowed.difference)
        if narrowed.near == ShadowNear.FLOOR:
            return in_places(rows, floors)
        for name in NEAR:
            if narrowed.near == name:
                return close_to(rows, name)
        return rows


def _floors(
    product: Product, document: PolicyDocument, places: Mapping[Place, int], now: datetime
) -> dict[Place, Floor]:
    book, manifests = book_for(product, document, now), manifests_of(document)
    found = {}
    for place in places:
        dims = dims_of(place.dims_key)
        least = floor_for(document, dims)
        if least is not None:
            item = book.speaker(dims, place.route, manifests.get(place.route, ""))
            found[place] = Floor(least, item.mean if item is not None else None)
    return found


def _near(row: ShadowRow, floors: Mapping[Place, Floor]) -> Iterator[str]:
    """What it was near to, with the figures that say so."""
    if row.near_deadline and row.deadline_ms is not None:
        ends = [_ms(side.get("completion_ms")) for side in (row.incumbent, row.candidate)]
        yield f"deadline {row.deadline_ms:,.0f} ms: predicted {ends[0]}, {ends[1]}"
    floor = floors.get(Place(row.dims_key, row.route)) if row.route else None
    if floor is not None:
        yield floor.said
    if row.near_long_context and row.input_tokens is not None:
        yield f"long context: {row.input_tokens:,} tokens"
    if row.near_budget:
        used = [_share(side.get("budget_used")) for side in (row.incumbent, row.candidate)]
        yield f"budget used: {used[0]}, {used[1]}"


def _ms(value: Any) -> str:
    return "not served" if value is None else f"{value:,.0f} ms"


def _share(value: Any) -> str:
    return "no budget" if value is None else figures.share(min(float(value), 9.99), 0)
