"""Hours are folded from merged steps: derived, so that folding one again changes nothing.

Wherever an hour is stored it holds exactly what its merged steps hold, because whoever merges a
step of it folds it anew in the same transaction, and only one does at a time. Readers rest on that:
they take the hour and whatever was not merged yet.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from django.db import connection

from ingest.models import RollupHour, RollupStep
from orchid.engine.rollup_bytes import columns_in, pack_columns
from orchid.engine.rollup_hour import HOUR, folded

Place = tuple[int, datetime]
_ONE_AT_A_TIME = 0x0C1D_0001


def fold(places: Iterable[Place]) -> None:
    """Make these streams' hours from their steps, or make them anew."""
    for stream, hour_at in places:
        steps = RollupStep.objects.filter(
            day=hour_at.date(),
            stream_id=stream,
            step_at__gte=hour_at,
            step_at__lt=hour_at + HOUR,
        ).values_list("step_at", "sheet")
        hour = folded((at.astimezone(UTC), columns_in(bytes(data))) for at, data in steps)
        RollupHour.objects.update_or_create(
            stream_id=stream, hour_at=hour_at, defaults={"sheet": pack_columns(hour)}
        )


def with_hours(places: Iterable[Place]) -> set[Place]:
    """Those of the hours that were folded before."""
    wanted = set(places)
    streams, hours = {stream for stream, _ in wanted}, {hour_at for _, hour_at in wanted}
    found = RollupHour.objects.filter(stream_id__in=streams, hour_at__in=hours)
    return wanted & {(s, at.astimezone(UTC)) for s, at in found.values_list("stream_id", "hour_at")}


def alone(*, waiting: bool) -> bool:
    """Whether nobody else merges steps or folds hours until the transaction ends."""
    how = "pg_advisory_xact_lock" if waiting else "pg_try_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {how}(%s)", [_ONE_AT_A_TIME])
        return waiting or bool(cursor.fetchone()[0])


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
