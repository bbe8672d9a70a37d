"""Whether requests can be followed by their id through every account that is kept of them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection

from orchid.engine.outcome import BIT_OF
from policies.models import Product

#: The newest so many completed requests are looked at.
MOST = 10_000
STATIONS = ("preprocessing", "device", "validation", "billing")
# Partitions are named by the days, the newest are found by the index on arrival.
_NEWEST = """
    WITH newest AS (
        SELECT input_tokens IS NOT NULL AND output_tokens IS NOT NULL AS prepared,
               EXISTS (
                   SELECT 1 FROM jsonb_array_elements(attempts::jsonb) AS one
                   WHERE one ->> 'accelerator_ms' IS NOT NULL
               ) AS on_device,
               policy_valid IS NOT NULL AND schema_valid IS NOT NULL AS validated,
               populations & %(unpriced)s = 0 AS billed
        FROM ingest_request
        WHERE product_id = %(product)s AND outcome = 'completed'
          AND arrived_at >= %(start)s AND arrived_at < %(end)s
          AND day BETWEEN %(first_day)s AND %(last_day)s
        ORDER BY arrived_at DESC LIMIT %(most)s
    )
    SELECT count(*), count(*) FILTER (WHERE prepared AND on_device AND validated AND billed),
           count(*) FILTER (WHERE prepared), count(*) FILTER (WHERE on_device),
           count(*) FILTER (WHERE validated), count(*) FILTER (WHERE billed)
    FROM newest
"""


@dataclass(frozen=True)
class Survival:
    """Of the completed requests, how many each account knows, and how many all of them do."""

    completed: int
    survived: int
    by_station: tuple[int, ...]

    @property
    def share(self) -> float:
        """0 where nothing was completed."""
        return self.survived / self.completed if self.completed else 0.0

    @property
    def weakest(self) -> str:
        """The account that knows the fewest."""
        fewest = min(range(len(STATIONS)), key=lambda place: self.by_station[place])
        return f"{STATIONS[fewest]} ({self.by_station[fewest]:,})"


def survival(product: Product, start: datetime, end: datetime) -> Survival:
    """Of the newest completed requests that arrived from `start` to the last whole minute."""
    return _survival(product.pk, start, end.replace(second=0, microsecond=0))


@lru_cache(maxsize=64)
def _survival(product_id: int, start: datetime, end: datetime) -> Survival:
    """A tick each second asks again; what came within a minute does not change the share much."""
    asked: dict[str, Any] = {"product": product_id, "start": start, "end": end, "most": MOST}
    asked["unpriced"] = BIT_OF["unpriced"]
    asked["first_day"], asked["last_day"] = start.astimezone(UTC).date(), end.astimezone(UTC).date()
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, asked)
        completed, survived, *stations = cursor.fetchone() or (0, 0, 0, 0, 0, 0)
    return Survival(completed, survived, tuple(stations))
