"""One compactor merges the deltas of steps that are over; readers sum and see no difference."""

from datetime import datetime, timedelta
from itertools import groupby

from django.db import connection, transaction

from ingest.models import RollupDelta
from ingest.selectors import RollupRow

#: Late batches may still append after this; the next round merges them too.
SETTLED_AFTER = timedelta(seconds=30)
_ONE_AT_A_TIME = 0x0C1D_0001
_ROUND = 5_000


def compact(now: datetime) -> int:
    """Merge deltas that share a key; how many rows went. Does nothing while another one runs."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_ONE_AT_A_TIME])
            if not cursor.fetchone()[0]:
                return 0
        return sum(_merge(group) for group in _groups(now))


def _groups(now: datetime) -> list[list[RollupDelta]]:
    deltas = RollupDelta.objects.raw(
        """
        SELECT * FROM (
            SELECT *, count(*) OVER (
                PARTITION BY product_id, step_at, publication, digest, cohort,
                             dims_key, route, manifest
            ) AS shares
            FROM ingest_rollupdelta WHERE step_at < %s
        ) AS counted WHERE shares > 1
        ORDER BY product_id, step_at, publication, digest, cohort, dims_key, route, manifest
        LIMIT %s
        """,
        [now - SETTLED_AFTER, _ROUND],
    )
    return [list(group) for _, group in groupby(deltas, key=_key)]


def _key(delta: RollupDelta) -> tuple[object, ...]:
    return (
        delta.product_id,
        delta.step_at,
        delta.publication,
        delta.digest,
        delta.cohort,
        delta.dims_key,
        delta.route,
        delta.manifest,
    )


def _merge(group: list[RollupDelta]) -> int:
    kept, *rest = group
    if not rest:
        return 0
    total = RollupRow(kept.step_at, kept.dims, kept.route, kept.manifest)
    for delta in group:
        total.add(delta)
    kept.counters, kept.within = total.counters, total.within
    kept.histogram = {str(bucket): count for bucket, count in total.histogram.items()}
    kept.teu, kept.cost_usd, kept.records = total.teu, total.cost_usd, total.records
    kept.save()
    RollupDelta.objects.filter(pk__in=[delta.pk for delta in rest]).delete()
    return len(rest)
