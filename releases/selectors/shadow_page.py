"""What the page of a candidate's decisions shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from controlplane import figures
from controlplane.web import Column, CursorPage, Table
from ingest.selectors.shadow import Told, told
from ingest.states import DIFFERING, ShadowCounted, ShadowMode
from policies.models import Product
from releases.models import Publication
from releases.selectors.disagreements import Disagreements, Narrowed
from releases.selectors.exposure import exposure
from releases.selectors.shadow import (
    Agreement,
    agreement,
    mode_looked_at,
    publication_looked_at,
)
from releases.states import ShadowNear


@dataclass(frozen=True)
class Narrowing:
    """A link that narrows the list, how many it leaves, and whether it does so now."""

    label: str
    n: int
    query: str
    is_current: bool


@dataclass(frozen=True)
class ShadowPage:
    """One publication in one mode. `requests` are those that gates count under it."""

    publication: Publication
    mode: ShadowMode
    found: Agreement
    requests: int | None
    by_kind: Table
    nears: list[Narrowing]
    differences: list[Narrowing]
    listed: CursorPage
    others: list[Told]
    query: str


def shadow_page(
    product: Product, asked: dict[str, Any], cursor: str, now: datetime
) -> ShadowPage | None:
    """None where nothing was ever published."""
    publication = publication_looked_at(product, asked["publication"])
    if publication is None:
        return None
    mode = mode_looked_at(product, publication, asked["mode"])
    found = agreement(product, publication, mode)
    rows, narrowed = (
        Disagreements(product, publication, mode),
        Narrowed(asked["near"], asked["difference"]),
    )
    floors = rows.floors(now)
    counts = {**found.near, ShadowNear.FLOOR.value: rows.near_floors(floors)}
    place = {"publication": publication.number, "mode": mode.value}
    return ShadowPage(
        publication,
        mode,
        found,
        _requests(publication, now),
        _table(found),
        list(_nears(found, counts, narrowed, place)),
        list(_differences(found, narrowed, place)),
        rows.page(narrowed, floors, cursor),
        told(product),
        _query(place, narrowed.near, narrowed.difference),
    )


def _requests(publication: Publication, now: datetime) -> int | None:
    """Eligible ones since its clock started; None before."""
    rows = exposure(publication, now)
    return rows[0].of_requests if rows else None


def _table(found: Agreement) -> Table:
    """How often each difference came, and what part of the decisions it is."""
    kinds = (ShadowCounted.SAME, *DIFFERING)
    rows = [(kind.label, found.by_kind.get(kind, 0)) for kind in kinds]
    return Table(
        "The candidate’s decisions beside the incumbent’s",
        [Column("The candidate"), Column("Decisions", numeric=True), Column("Part", numeric=True)],
        [(label, f"{n:,}", _part(n, found.decisions)) for label, n in rows],
    )


def _part(n: int, of: int) -> str:
    return figures.share(n / of, 2) if of else "–"


def _nears(
    found: Agreement, counts: dict[str, int], narrowed: Narrowed, place: dict[str, Any]
) -> Iterator[Narrowing]:
    yield Narrowing(
        "All", found.disagreements, _query(place, "", narrowed.difference), not narrowed.near
    )
    for near in ShadowNear:
        query = _query(place, near.value, narrowed.difference)
        n = counts.get(near.value, 0)
        yield Narrowing(str(near.label), n, query, narrowed.near == near)


def _differences(
    found: Agreement, narrowed: Narrowed, place: dict[str, Any]
) -> Iterator[Narrowing]:
    for kind in DIFFERING:
        n = found.by_kind.get(kind, 0)
        chosen = narrowed.difference == kind
        if n or chosen:
            query = _query(place, narrowed.near, "" if chosen else kind.value)
            yield Narrowing(str(kind.label), n, query, chosen)


def _query(place: dict[str, Any], near: str, difference: str) -> str:
    """The address of a narrowed list, ready for one more parameter."""
    named = {"near": near, "difference": difference}
    return urlencode(place | {name: value for name, value in named.items() if value}) + "&"
