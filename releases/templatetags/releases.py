"""What pages of every room show of a decision: overrides behind what they are about."""

from typing import Any

from django import template

from policies.models import Product
from releases.models import Rollout
from releases.selectors import overrides as selectors
from releases.selectors.waiting import open_looks

register = template.Library()


@register.inclusion_tag("releases/_overridden.html")
def overridden(product: Product) -> dict[str, Any]:
    """Overrides of the open rollout and of what is live; nothing where there are none."""
    return {"slug": product.slug, "facts": selectors.behind_what_is_live(product)}


@register.inclusion_tag("releases/_overridden.html")
def overridden_stage(product: Product, publication: int) -> dict[str, Any]:
    """Overrides of the stage that a publication began."""
    return {"slug": product.slug, "facts": selectors.of_publication(product, publication)}


@register.inclusion_tag("releases/_overridden.html")
def overridden_proposal(product: Product, proposal: int) -> dict[str, Any]:
    """Overrides in a proposal's rollout."""
    return {"slug": product.slug, "facts": selectors.of_proposal(proposal, product)}


@register.inclusion_tag("releases/_override_moves.html", takes_context=True)
def override_moves(context: template.Context, rollout: Rollout) -> dict[str, Any]:
    """What this reader may do where a stage is inconclusive."""
    request = context["request"]
    moves = selectors.moves_for(request.actor, rollout)
    token = context.get("csrf_token")
    return {"slug": rollout.product.slug, "rollout": rollout, "moves": moves, "csrf_token": token}


@register.inclusion_tag("releases/_open_looks.html")
def open_second_looks(product: Product) -> dict[str, Any]:
    """What was done alone and still waits for somebody else to look at it."""
    return {"slug": product.slug, "looks": open_looks(product)}
