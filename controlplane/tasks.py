"""Ticks of the hall."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from controlplane.models import Heartbeat


@shared_task(name="controlplane.heartbeat")
def heartbeat() -> None:
    """Show that beat ticks and a worker answers: this row needs both."""
    Heartbeat.objects.update_or_create(name="worker", defaults={"at": timezone.now()})


BEAT: dict[str, dict[str, Any]] = {
    "heartbeat": {"task": "controlplane.heartbeat", "schedule": 5.0},
}
