"""The completion times that the latency gate counts, one by one, from the stored requests."""

from datetime import UTC, datetime

import numpy as np
from django.db import connection

from orchid.engine.exact import Times
from orchid.engine.outcome import BIT_OF
from orchid.engine.standing import DELIVERED_OUTCOMES
from policies.models import Product

# A request that never ended whole ranks behind every completion.
_TIMES = """
    COPY (
        SELECT CASE WHEN outcome = ANY(%(delivered)s) THEN coalesce(completion_ms, 'Infinity')
                    ELSE 'Infinity' END
        FROM ingest_request
        WHERE product_id = %(product)s AND day BETWEEN %(first_day)s AND %(last_day)s
          AND arrived_at >= %(start)s AND arrived_at < %(end)s
          AND digest = %(digest)s AND publication IS NOT DISTINCT FROM %(publication)s
          AND cohort = %(cohort)s AND populations & %(counted)s <> 0
    ) TO STDOUT (FORMAT binary)
"""
# After eleven bytes of signature come flags and an extension, then rows of one eight-byte number.
_HEAD = 19
_ROW = np.dtype([("fields", ">i2"), ("length", ">i4"), ("ms", ">f8")])


def completions(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> Times:
    """Milliseconds of every request with start <= arrival < end, infinity where it never ended."""
    asked = {
        "product": product.pk,
        "digest": digest,
        "publication": publication,
        "cohort": cohort,
        "start": start,
        "end": end,
        "first_day": start.astimezone(UTC).date(),
        "last_day": end.astimezone(UTC).date(),
        "counted": BIT_OF["latency_counted"],
        "delivered": sorted(DELIVERED_OUTCOMES),
    }
    with connection.cursor() as cursor, cursor.copy(_TIMES, asked) as copy:
        data = b"".join(bytes(block) for block in copy)
    rows = np.frombuffer(
        data, dtype=_ROW, offset=_HEAD, count=(len(data) - _HEAD - 2) // _ROW.itemsize
    )
    return rows["ms"].astype(np.float64)
