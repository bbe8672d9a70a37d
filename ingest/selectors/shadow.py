"""What edges told of a candidate's decisions: how many of each kind, and those that differ."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from ingest.models import ShadowCount, ShadowRow
from ingest.states import PASSED_OVER, ShadowCounted, ShadowMode
from orchid.engine.shadow.differences import NEAR, Near
from policies.models import Product


@dataclass(frozen=True)
class ShadowCounts:
    """The lines of one publication in one mode. `near` counts those that differ."""

    by_difference: Counter[str] = field(default_factory=Counter)
    near: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
    first_at: datetime | None = None
    last_at: datetime | None = None


def shadow_counts(product: Product, publication: int, mode: str) -> ShadowCounts:
    """The sums over all edges."""
    rows = list(
        ShadowCount.objects.filter(
            source__product=product, publication=publication, mode=mode
        ).values_list("counted", "near", "n", "first_at", "last_at")
    )
    by_difference, near, passed_over = Counter[str](), Counter[str](), Counter[str]()
    for counted, bits, n, _, _ in rows:
        if counted in PASSED_OVER:
            passed_over[counted] += n
            continue
        by_difference[counted] += n
        if counted != ShadowCounted.SAME:
            near.update({name: n for place, name in enumerate(NEAR) if bits >> place & 1})
    return ShadowCounts(
        by_difference,
        near,
        passed_over,
        min((first_at for *_, first_at, _ in rows), default=None),
        max((last_at for *_, last_at in rows), default=None),
    )


@dataclass(frozen=True)
class Place:
    """A segment and the route by which the candidate would serve it."""

    dims_key: str
    route: str


def disagreements(product: Product, publication: int, mode: str) -> QuerySet[ShadowRow]:
    """Decisions that differ; page them newest first by (at, id)."""
    return ShadowRow.objects.filter(
        ~Q(difference=ShadowCounted.SAME),
        product_id=product.pk,
        publication=publication,
        mode=mode,
    )


def close_to(rows: QuerySet[ShadowRow], what: Near) -> QuerySet[ShadowRow]:
    """Those of the decisions that were near to a deadline, a budget or the end of a window."""
    return rows.filter(**{f"near_{what}": True})


def in_places(rows: QuerySet[ShadowRow], places: Iterable[Place]) -> QuerySet[ShadowRow]:
    """Those that the candidate would serve in one of these places."""
    by_route: dict[str, list[str]] = {}
    for place in places:
        by_route.setdefault(place.route, []).append(place.dims_key)
    match = Q(day__isnull=True)  # no row
    for route, keys in by_route.items():
        match |= Q(route=route, dims_key__in=keys)
    return rows.filter(match)


def places_of(rows: QuerySet[ShadowRow]) -> dict[Place, int]:
    """How many of the decisions fall in each place that the candidate would serve."""
    served = rows.exclude(route="").order_by()
    found = served.values_list("dims_key", "route").annotate(n=Count("id"))
    return {Place(dims_key, route): n for dims_key, route, n in found}


@dataclass(frozen=True)
class Told:
    """A publication in a mode of which edges told something."""

    publication: int
    mode: ShadowMode


def told(product: Product) -> list[Told]:
    """What can be looked at, the newest publication first."""
    rows = ShadowCount.objects.filter(source__product=product)
    pairs = rows.order_by("-publication", "mode").values_list("publication", "mode").distinct()
    return [Told(number, ShadowMode(mode)) for number, mode in pairs]
