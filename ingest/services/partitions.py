"""Days of the request table: made before they are needed, dropped when they are over."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from django.db import connection

from ingest.models import Batch
from ingest.states import BatchStatus, SourceKind

RETENTION = timedelta(days=30)
#: A sender's clock may run ahead of ours by this much.
AHEAD = timedelta(minutes=5)
#: Counted deliveries of edges are kept so long, in which time their ids are still recognised.
RECEIPTS = timedelta(days=2)


def ensure_days(days: Iterable[date]) -> None:
    """Make the partitions of these days; the function in the database runs as the tables' owner."""
    with connection.cursor() as cursor:
        for day in sorted(set(days)):
            cursor.execute("SELECT ingest_ensure_day(%s)", [day])


def keep_days(now: datetime) -> None:
    """Today's, tomorrow's and the next day's partitions; none past retention."""
    ensure_days(now.date() + timedelta(days=ahead) for ahead in range(3))
    with connection.cursor() as cursor:
        cursor.execute("SELECT ingest_drop_days_before(%s)", [now.date() - RETENTION])
    Batch.objects.filter(
        kind=SourceKind.EDGE, status=BatchStatus.DONE, done_at__lt=now - RECEIPTS
    ).delete()


def is_kept(arrived_at: datetime, now: datetime) -> bool:
    """Whether a request of that arrival can be stored: inside retention, and not in the future."""
    return now - RETENTION < arrived_at <= now + AHEAD
