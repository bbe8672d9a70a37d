"""Ticks of the room."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from policies.models import Product
from releases.services.reconcile import reconcile

TICK = timedelta(seconds=1)


@shared_task(name="releases.reconcile")
def reconcile_all() -> int:
    """Reconcile every product that has anything published or in review; returns how many."""
    concerned = Product.objects.filter(publications__isnull=False) | Product.objects.filter(
        proposals__isnull=False
    )
    ids = concerned.values_list("pk", flat=True).distinct()
    return sum(reconcile(pk, timezone.now()) for pk in ids)


BEAT: dict[str, dict[str, Any]] = {
    "releases-reconcile": {
        "task": "releases.reconcile",
        "schedule": TICK.total_seconds(),
        # A tick that waited longer than this has been overtaken by its successors.
        "options": {"expires": 5},
    },
}
