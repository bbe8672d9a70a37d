"""Ticks of the room."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts import resets, session_rules, sign_in
from accounts.models import IdempotentAnswer
from accounts.services import seal_audit as seal

# Older than any client's retries.
ANSWERS_KEPT = timedelta(days=2)


@shared_task(name="accounts.seal_audit")
def seal_audit() -> int:
    return seal()


@shared_task(name="accounts.forget_answers")
def forget_answers() -> int:
    stale = IdempotentAnswer.objects.filter(created_at__lt=timezone.now() - ANSWERS_KEPT)
    return stale.delete()[0]


@shared_task(name="accounts.forget_failures")
def forget_failures() -> int:
    return sign_in.forget_failures() + resets.forget_asked()


@shared_task(name="accounts.end_sessions")
def end_sessions() -> int:
    return session_rules.end_forgotten()


BEAT: dict[str, dict[str, Any]] = {
    "seal-audit": {"task": "accounts.seal_audit", "schedule": 1.0},
    "forget-answers": {"task": "accounts.forget_answers", "schedule": 3600.0},
    "forget-failures": {"task": "accounts.forget_failures", "schedule": 900.0},
    "end-sessions": {"task": "accounts.end_sessions", "schedule": 900.0},
}
