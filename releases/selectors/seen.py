"""A row by its number, for whoever may see its product."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from accounts.guard import Actor, Permission, may
from controlplane.errors import NotFound

Row = TypeVar("Row", bound=Model)


def seen(actor: Actor, rows: QuerySet[Row], pk: int) -> Row:
    """Raises NotFound, in the same words whether it isn't there or isn't theirs to see.

    Else the numbers of another product could be told from those that nobody has.
    """
    row: Any = rows.filter(pk=pk).first()
    if row is None or not may(actor, Permission.VIEW, row.product.slug):
        name = rows.model._meta.verbose_name
        raise NotFound("not_found", f"No {name} of number {pk} is open to you.")
    found: Row = row
    return found
