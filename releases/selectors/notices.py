"""What was told of a product, and what became of each delivery."""

from dataclasses import dataclass

from django.db.models import QuerySet

from policies.models import Product
from releases.models import Notice, Webhook

SHOWN = 50


@dataclass(frozen=True)
class Told:
    """The page: who is told, and the last notices with their deliveries."""

    webhooks: list[Webhook]
    notices: list[Notice]


def told(product: Product) -> Told:
    """The addresses in force and the last notices."""
    hooks = Webhook.objects.filter(product=product, ended_at=None)
    return Told(list(hooks), list(notices(product)[:SHOWN]))


def notices(product: Product) -> QuerySet[Notice]:
    """Every notice of a product with its deliveries, newest first."""
    found = Notice.objects.filter(product=product).select_related("product")
    return found.prefetch_related("deliveries__webhook", "deliveries__user").order_by(
        "-made_at", "-id"
    )
