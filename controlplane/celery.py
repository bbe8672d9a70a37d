"""The Celery app: `celery -A controlplane.celery worker`, and `beat` once beside all workers.

Loaded by both server entries and by the hall's AppConfig, so a task sent from anywhere meets this
app and never a default broker.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from celery import Celery
from celery.signals import before_task_publish, import_modules, worker_ready

from controlplane.pool import watch
from controlplane.ticks import TickingTask, stamp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")

ROOMS = ("controlplane", "accounts", "ingest", "gates", "releases")

app = Celery("orchid", task_cls=TickingTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def gathered_schedule() -> dict[str, dict[str, Any]]:
    """Every room's ticks: a room's `tasks.BEAT` maps a name to Celery's schedule entry."""
    schedule: dict[str, dict[str, Any]] = {}
    for room in ROOMS:
        if find_spec(f"{room}.tasks"):
            schedule.update(getattr(import_module(f"{room}.tasks"), "BEAT", {}))
    return schedule


def install_schedule(**_: Any) -> None:
    """Only a worker or beat needs the schedule; gathering it imports every room's tasks."""
    app.conf.beat_schedule = gathered_schedule()


import_modules.connect(install_schedule, weak=False)
before_task_publish.connect(stamp, weak=False)
worker_ready.connect(watch, weak=False)
