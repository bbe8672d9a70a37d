"""What an address of the room asks for: its product, its numbers."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.guard import Permission, actor_of, require
from controlplane.errors import BadInput
from controlplane.web import whole_number
from policies import selectors as policies
from policies.models import Product

PRODUCT = OpenApiParameter("product", str, description="The product's slug, where no path has it.")
PUBLICATION = OpenApiParameter("publication", int, description="Default: what is live.")
GENERATION = OpenApiParameter("generation", int, description="Default: what is live.")


def visible_product(request: Request, slug: str, permission: Permission) -> Product:
    """The product of the path or the query, if the caller has the permission in it."""
    named = slug or request.query_params.get("product", "")
    if not named:
        raise BadInput("product_missing", "Name the product: ?product=its-slug.")
    require(actor_of(request), Permission.VIEW, named)
    require(actor_of(request), permission, named)
    return policies.product(named)


def number_of(request: Any, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    number = whole_number(text)
    if number is None:
        raise BadInput("not_a_number", f"`{name}` is a whole number.")
    return number
