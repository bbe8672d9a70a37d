"""Ticks and background work: open windows are judged as soon as their traffic is counted further,
decision diffs are computed when they are asked for."""

from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from gates.models import Window
from gates.services.evaluation import evaluate
from gates.services.inputs import floor
from ingest.selectors import watermark
from policies.selectors import document_of

#: Of windows that have closed, how long late records may still change the judgement.
LATE = timedelta(minutes=10)


@shared_task(name="gates.evaluate_window")
def evaluate_window(window_id: int) -> None:
    """Judge one window; equal inputs cost nothing, so redelivery is harmless."""
    evaluate(window_id, timezone.now())


@shared_task(name="gates.evaluate_open_windows")
def evaluate_open_windows() -> int:
    """Judge every window whose inputs can have changed; returns how many."""
    now = timezone.now()
    due = [window.pk for window in _candidates(now) if _is_due(window, now)]
    for pk in due:
        evaluate(pk, now)
    return len(due)


@shared_task(name="gates.compute_decision_diff")
def compute_decision_diff(pk: int) -> None:
    """Compare two documents on recorded requests. Safe to run twice, and safe to kill."""
    from gates.services.recorded_diff import compute

    compute(pk)


@shared_task(name="gates.sweep_decision_diffs")
def sweep_decision_diffs() -> None:
    """Send again what no worker has taken."""
    from gates.services.recorded_diff import waiting_diffs

    for pk in waiting_diffs(timezone.now()):
        compute_decision_diff.delay(pk)


def _candidates(now: datetime) -> list[Window]:
    still = Window.objects.filter(closes_at=None) | Window.objects.filter(closes_at__gte=now - LATE)
    return list(still.select_related("product"))


def _is_due(window: Window, now: datetime) -> bool:
    """The watermark moved a step, or time alone may have changed the validity."""
    reached = watermark(window.product, now)
    if reached is None or window.judged_to is None or window.judged_state != "ok":
        return True
    step = timedelta(seconds=document_of(window.digest).gates.step_s)
    return floor(reached, step) > window.judged_to or now - reached > timedelta(seconds=30)


@shared_task(name="gates.read_calibration")
def read_calibration() -> None:
    """Add new records to the sums of calibration. Safe to run twice, and safe to kill."""
    from gates.services.calibration import read_everywhere

    read_everywhere(timezone.now())


@shared_task(name="gates.forget_calibration")
def forget_calibration() -> None:
    """Drop what calibration no longer looks back on."""
    from gates.services.calibration import forget

    forget(timezone.now())


BEAT: dict[str, dict[str, Any]] = {
    # A tick that waited past its successor has nothing left to do.
    "gates.evaluate_open_windows": {
        "task": "gates.evaluate_open_windows",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "gates.sweep_decision_diffs": {
        "task": "gates.sweep_decision_diffs",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "gates.read_calibration": {
        "task": "gates.read_calibration",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "gates.forget_calibration": {"task": "gates.forget_calibration", "schedule": 3600.0},
}
