"""Hours are folded from merged steps: derived, so that folding one again changes nothing."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from django.db import connection

from ingest.models import RollupHour, RollupStep
from orchid.engine.rollup_bytes import pack, unpack
from orchid.engine.rollup_hour import HOUR, folded

Place = tuple[int, datetime]


def fold(places: Iterable[Place]) -> None:
    """Make these streams' hours from their steps, or make them anew."""
    for stream, hour_at in places:
        steps = RollupStep.objects.filter(
            day=hour_at.date(),
            stream_id=stream,
            step_at__gte=hour_at,
            step_at__lt=hour_at + HOUR,
        ).values_list("step_at", "sheet")
        sheet = folded((at.astimezone(UTC), unpack(bytes(data))) for at, data in steps)
        RollupHour.objects.update_or_create(
            stream_id=stream, hour_at=hour_at, defaults={"sheet": pack(sheet)}
        )


def without_hours(first: date, last: date, until: datetime) -> list[Place]:
    """Hours that are over by `until`, have steps on these days and were not folded yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT step.stream_id, date_trunc('hour', step.step_at)
            FROM ingest_rollup_step AS step
            LEFT JOIN ingest_rolluphour AS hour
              ON hour.stream_id = step.stream_id
             AND hour.hour_at = date_trunc('hour', step.step_at)
            WHERE step.day BETWEEN %s AND %s AND step.step_at < %s AND hour.id IS NULL
            """,
            [first, last, until - timedelta(hours=1)],
        )
        found = [(stream, at.astimezone(UTC)) for stream, at in cursor.fetchall()]
    return [place for place in found if place[1] + HOUR <= until]
