"""Items that reopened a decision, as pages and machines read them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from controlplane.errors import NotFound
from gates.models import RevisitItem
from gates.states import RevisitState
from orchid.engine.triggers import trigger
from policies.models import Product


@dataclass(frozen=True)
class Waiting:
    """How many items wait, by the role that owns them."""

    total: int
    by_owner: Mapping[str, int]


def revisit_items(product: Product, state: str = "") -> QuerySet[RevisitItem]:
    """Every item, or those of a state; `waiting` takes both that nobody has answered."""
    rows = RevisitItem.objects.filter(product=product).select_related("product")
    if state == "waiting":
        return rows.filter(state__in=RevisitState.waiting())
    return rows.filter(state=state) if state in RevisitState.values else rows


def revisit_item(product: Product, pk: int) -> RevisitItem:
    """One item of the product; raises NotFound."""
    row = revisit_items(product).filter(pk=pk).first()
    if row is None:
        raise NotFound("not_found", f"{product.slug} has no revisit item {pk}.")
    return row


def waiting(product: Product) -> Waiting:
    """What the hall and the gates show: items that nobody has resolved."""
    rows = revisit_items(product, "waiting").values_list("owner").annotate(n=Count("id"))
    by_owner = dict(rows.order_by("owner"))
    return Waiting(sum(by_owner.values()), by_owner)


def label_of(name: str) -> str:
    """A trigger in words."""
    found = trigger(name)
    return found.label if found else name
