"""Ticks and background work: open windows are judged as soon as their traffic is counted further,
decision diffs are computed when they are asked for."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from gates.services.asking import hear
from gates.services.cases import forget_cases
from gates.services.evaluation import evaluate
from gates.services.ticking import tick


@shared_task(name="gates.evaluate_window")
def evaluate_window(window_id: int) -> None:
    """Judge one window, unless what was asked is answered: redelivery is harmless."""
    if hear(window_id):
        evaluate(window_id, timezone.now())


@shared_task(name="gates.evaluate_open_windows")
def evaluate_open_windows() -> int:
    """Judge every window whose inputs can have changed; returns how many."""
    return tick(timezone.now)


@shared_task(name="gates.forget_cases")
def forget_cases_task() -> int:
    """Take away cases that nobody may ask for any more."""
    return forget_cases(timezone.now())


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


@shared_task(name="gates.watch_revisits")
def watch_revisits() -> int:
    """Open an item for each condition of a live generation that broke; returns how many."""
    from gates.services.revisit import watch_everywhere

    return watch_everywhere(timezone.now())


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
    "gates.evaluate_open_windows": {
        "task": "gates.evaluate_open_windows",
        "schedule": 2.0,
    },
    "gates.sweep_decision_diffs": {
        "task": "gates.sweep_decision_diffs",
        "schedule": 10.0,
    },
    "gates.watch_revisits": {
        "task": "gates.watch_revisits",
        "schedule": 15.0,
    },
    "gates.read_calibration": {
        "task": "gates.read_calibration",
        "schedule": 10.0,
    },
    "gates.forget_cases": {
        "task": "gates.forget_cases",
        "schedule": 600.0,
    },
    "gates.forget_calibration": {"task": "gates.forget_calibration", "schedule": 3600.0},
}
