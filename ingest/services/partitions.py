"""Days of the partitioned tables: made before they are needed, dropped when they are over."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone

from ingest.models import EdgeStep, RollupDelta, RollupHour
from ingest.services.hours import alone, fold, without_hours

RETENTION = timedelta(days=settings.INGEST.requests_days)
#: Longer than requests are, so that a late one always finds its step.
STEP_RETENTION = timedelta(days=settings.INGEST.steps_days)
HOUR_RETENTION = timedelta(days=settings.INGEST.hours_days)
#: Counted deliveries of edges are kept so long, in which time their ids are still recognised.
RECEIPTS = timedelta(days=settings.INGEST.receipts_days)
#: The database refuses to drop the last week, whatever it is told.
_NEVER_DROPPED = timedelta(days=7)
#: A sender's clock may run ahead of ours by this much.
AHEAD = timedelta(minutes=5)
STEPS, EDGE_ROLLUPS = "ingest_rollup_step", "ingest_edge_rollup"
SHADOWS = "ingest_shadow"


def ensure_days(days: Iterable[date]) -> None:
    """Make the partitions of these days; the function in the database runs as the tables' owner."""
    with connection.cursor() as cursor:
        for day in sorted(set(days)):
            cursor.execute("SELECT ingest_ensure_day(%s)", [day])


def ensure_rollup_days(table: str, days: Iterable[date]) -> None:
    """The same for STEPS, EDGE_ROLLUPS or SHADOWS."""
    with connection.cursor() as cursor:
        for day in sorted(set(days)):
            cursor.execute("SELECT ingest_ensure_rollup_day(%s, %s)", [table, day])


def keep_days(now: datetime) -> None:
    """Today's, tomorrow's and the next day's partitions; none past retention."""
    to_come = [now.date() + timedelta(days=ahead) for ahead in range(3)]
    ensure_days(to_come)
    for table in (STEPS, EDGE_ROLLUPS, SHADOWS):
        ensure_rollup_days(table, to_come)
    over = now.date() - RETENTION
    with connection.cursor() as cursor:
        cursor.execute("SELECT ingest_drop_days_before(%s)", [over])
        cursor.execute("SELECT ingest_drop_rollup_days_before(%s, %s)", [SHADOWS, over])
    _drop_steps(now)
    RollupHour.objects.filter(hour_at__lt=now - HOUR_RETENTION).delete()


@transaction.atomic
def _drop_steps(now: datetime) -> None:
    """Drop the days of steps that are over and merged; from then on their hours speak for them."""
    alone(waiting=True)
    waiting = RollupDelta.objects.aggregate(oldest=Min("step_at"))["oldest"]
    oldest = min(now - STEP_RETENTION, timezone.now() - _NEVER_DROPPED).date()
    if waiting is not None:
        oldest = min(oldest, waiting.date())
    start = datetime.combine(oldest, time(), UTC)
    fold(without_hours(date(1970, 1, 1), oldest - timedelta(days=1), start))
    RollupHour.objects.filter(hour_at__lt=start, stands_alone=False).update(stands_alone=True)
    EdgeStep.objects.filter(step_at__lt=start).delete()
    with connection.cursor() as cursor:
        for table in (STEPS, EDGE_ROLLUPS):
            cursor.execute("SELECT ingest_drop_rollup_days_before(%s, %s)", [table, oldest])


def is_kept(arrived_at: datetime, now: datetime) -> bool:
    """Whether a request of that arrival can be stored: inside retention, and not in the future."""
    return now - RETENTION < arrived_at <= now + AHEAD
