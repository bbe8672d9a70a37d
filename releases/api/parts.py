"""What every door for machines shares: checked input, and rows that the actor may see."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from accounts.guard import Permission, actor_of, products_with, require
from controlplane.errors import BadInput
from controlplane.web import paged
from policies.models import Product
from policies.selectors import product as product_by_slug
from policies.selectors import products
from releases.models import Proposal, Rollout
from releases.selectors.seen import seen


def taken(shape: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """The checked input; raises 400 with every wrong field."""
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def visible(request: Request, slug: str | None) -> list[Product]:
    """The products of a list: one by address or `?product=`, else all that the actor may see."""
    actor = actor_of(request)
    named = slug or request.query_params.get("product")
    if named:
        require(actor, Permission.VIEW, named)
        return [product_by_slug(named)]
    return list(products(products_with(actor, Permission.VIEW)))


def one_product(request: Request, slug: str) -> Product:
    """The product of an address; unseen is not there."""
    require(actor_of(request), Permission.VIEW, slug)
    return product_by_slug(slug)


def named_product(request: Request, slug: str | None, data: dict[str, Any]) -> Product:
    """The product of a write, by address or in the body; unseen is not there."""
    named = slug or data.get("product")
    if not named:
        raise BadInput("product_missing", "Name the product.")
    require(actor_of(request), Permission.VIEW, named)
    return product_by_slug(named)


def listed(
    request: Request, rows: QuerySet[Any], shape: type[BaseSerializer[Any]], field: str
) -> Response:
    page = paged(rows, request.query_params.get("cursor", ""), field=field)
    return Response({"items": shape(page.rows, many=True).data, "next_cursor": page.next_cursor})


def seen_proposal(request: Request, pk: int) -> Proposal:
    """A proposal that the actor may see; one that isn't theirs to see is not there."""
    return seen(actor_of(request), Proposal.objects.select_related("product", "generation"), pk)


def seen_rollout(request: Request, pk: int) -> Rollout:
    return seen(actor_of(request), Rollout.objects.select_related("product", "publication"), pk)
