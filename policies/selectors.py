"""Reads of the room."""

from collections.abc import Collection

from django.db.models import QuerySet

from accounts.roles import EVERY_PRODUCT
from controlplane.errors import NotFound
from policies.models import Product


def products(slugs: Collection[str]) -> QuerySet[Product]:
    """The products among these slugs; `*` stands for all."""
    found = Product.objects.order_by("name")
    return found if EVERY_PRODUCT in slugs else found.filter(slug__in=slugs)


def product(slug: str) -> Product:
    """Raises NotFound, which is also what someone without a role gets."""
    found = Product.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound("not_found", f"There is no product {slug}.")
    return found
