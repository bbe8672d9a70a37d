"""Which route a model of an engine stands for: said by a person, checked, audited."""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import Conflict, Invalid, NotFound
from ingest.models import EngineRoute, Source
from ingest.selectors.routes import routes_of
from policies.models import Product


@dataclass(frozen=True)
class Wanted:
    """A model, of one source or of every (None), and the route that it is to stand for."""

    model: str
    route: str
    source: Source | None = None


def map_model(
    actor: Actor, product: Product, wanted: Wanted, expected_version: int | None = None
) -> EngineRoute:
    """Map a model that nobody mapped, or, with the version seen, map it to another route.

    The same mapping again changes nothing. Raises Invalid for a route that no document of the
    product has, Conflict when the mapping is not the one that the caller saw.
    """
    require(actor, Permission.INGEST, product.slug)
    known = routes_of(product)
    if wanted.route not in known:
        raise Invalid(
            "unknown_route",
            f"{product.slug} has no route {wanted.route}; it has {', '.join(known) or 'none'}.",
        )
    with transaction.atomic():
        row = _created(product, wanted) if expected_version is None else None
        row, moved = (row, True) if row else _changed(product, wanted, expected_version)
        if moved:
            _told(actor, product, row, "engine_route.mapped")
    return row


def unmap(actor: Actor, product: Product, pk: int, expected_version: int) -> None:
    """Take a mapping away; Conflict when it was changed since that version was seen."""
    require(actor, Permission.INGEST, product.slug)
    with transaction.atomic():
        row = EngineRoute.objects.select_for_update().filter(product=product, pk=pk).first()
        if row is None:
            raise NotFound("not_found", "This mapping is gone already.")
        if row.version != expected_version:
            raise _moved_on(row)
        _told(actor, product, row, "engine_route.unmapped")
        row.delete()


def _created(product: Product, wanted: Wanted) -> EngineRoute | None:
    """The new row, or None when the model is mapped already."""
    try:
        with transaction.atomic():
            return EngineRoute.objects.create(
                product=product, source=wanted.source, model=wanted.model, route=wanted.route
            )
    except IntegrityError:
        return None


def _changed(
    product: Product, wanted: Wanted, expected_version: int | None
) -> tuple[EngineRoute, bool]:
    """The row, and whether it stood for another route before."""
    found = EngineRoute.objects.filter(product=product, source=wanted.source, model=wanted.model)
    row = found.select_for_update().first()
    if row is None:
        raise Conflict(
            "not_mapped", f"{wanted.model} is no longer mapped; map it afresh without a version."
        )
    if row.route == wanted.route:
        return row, False
    if row.version != expected_version:
        raise _moved_on(row)
    found.update(route=wanted.route, version=F("version") + 1, changed_at=timezone.now())
    row.refresh_from_db()
    return row, True


def _moved_on(row: EngineRoute) -> Conflict:
    return Conflict(
        "mapping_changed",
        f"{row.model} stands for {row.route} since somebody changed it (version {row.version}). "
        "Look at the page again and change it from there.",
        version=row.version,
    )


def _told(actor: Actor, product: Product, row: EngineRoute, action: str) -> None:
    data = {"model": row.model, "route": row.route, "version": row.version}
    data["source"] = str(row.source) if row.source else "every source"
    record(actor, action, product=product.slug, obj=("engine_route", row.pk), data=data)
