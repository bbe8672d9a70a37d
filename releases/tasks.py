"""Ticks of the room."""

import logging
from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from policies.models import Product
from releases.services.deliveries import send_due
from releases.services.notices import gather
from releases.services.reconcile import reconcile

logger = logging.getLogger(__name__)
TICK, TELL_EVERY = timedelta(seconds=1), timedelta(seconds=3)


@shared_task(name="releases.reconcile")
def reconcile_all() -> int:
    """Reconcile every product that has anything published or in review; returns how many."""
    concerned = Product.objects.filter(publications__isnull=False) | Product.objects.filter(
        proposals__isnull=False
    )
    return sum(map(_reconciled, concerned.values_list("pk", flat=True).distinct()))


def _reconciled(product_id: int) -> bool:
    try:
        return reconcile(product_id, timezone.now())
    except Exception:  # the fault of one product must not keep the others from rolling back
        logger.exception("product %s was not reconciled", product_id)
        return False


@shared_task(name="releases.notices")
def tell() -> int:
    """Find what is new in every product, and send what is due; returns how many were taken."""
    for product in Product.objects.filter(publications__isnull=False).distinct():
        try:
            gather(product, timezone.now())
        except Exception:  # the fault of one product must not keep the others from being told
            logger.exception("what product %s has to tell was not gathered", product.pk)
    return send_due()


BEAT: dict[str, dict[str, Any]] = {
    "releases-reconcile": {
        "task": "releases.reconcile",
        "schedule": TICK.total_seconds(),
    },
    "releases-notices": {
        "task": "releases.notices",
        "schedule": TELL_EVERY.total_seconds(),
    },
}
