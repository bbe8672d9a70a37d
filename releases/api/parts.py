"""What doors for programs share here: products and rows that the actor may see."""

from typing import Any

from rest_framework.request import Request

from accounts.guard import Permission, actor_of, products_with, require
from controlplane.errors import BadInput
from policies.models import Product
from policies.selectors import product as product_by_slug
from policies.selectors import products
from releases.models import Proposal, Rollout
from releases.selectors.seen import seen


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


def seen_proposal(request: Request, pk: int) -> Proposal:
    """A proposal that the actor may see; one that isn't theirs to see is not there."""
    return seen(actor_of(request), Proposal.objects.select_related("product", "generation"), pk)


def seen_rollout(request: Request, pk: int) -> Rollout:
    return seen(actor_of(request), Rollout.objects.select_related("product", "publication"), pk)
