"""Everything that a product counted in a stretch of time, whatever generations there were.

By hour for what the ledger is laid on, by tenant over a window for budgets.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from ingest.models import RollupStream
from ingest.selectors.counted import placed_by_name, stored_sheets, timed_columns
from ingest.states import RollupBy
from orchid.engine.histograms import Entries
from orchid.engine.rollup import Sums
from orchid.engine.rollup_columns import Columns, regrouped, sums_of
from orchid.engine.rollup_hour import HOUR
from orchid.engine.verdict.counted import CellName, Counted, Timed
from policies.models import Product
from policies.selectors import document_of

# Those that have anything in the stretch, of the many that a product collects over the years.
_STREAMS = """
    SELECT stream.* FROM ingest_rollupstream AS stream
    WHERE product_id = %(product)s AND by = ANY(%(by)s) AND (
        EXISTS (SELECT 1 FROM ingest_rollupdelta WHERE stream_id = stream.id
                AND step_at >= %(start)s AND step_at < %(end)s)
        OR EXISTS (SELECT 1 FROM ingest_rollup_step WHERE stream_id = stream.id
                AND step_at >= %(start)s AND step_at < %(end)s
                AND day BETWEEN %(first_day)s AND %(last_day)s)
        OR EXISTS (SELECT 1 FROM ingest_rolluphour WHERE stream_id = stream.id
                AND hour_at >= %(start)s AND hour_at < %(end)s)
    )
    ORDER BY id
"""


_NONE = np.zeros(0, dtype=np.int64)


class CellInTime(NamedTuple):
    """What one cell, or one tenant, came to in one hour or step, its clocks apart."""

    at: datetime
    name: CellName
    sums: Sums


class Hourly(NamedTuple):
    """One generation under one publication, by cell or by tenant as `by` says."""

    by: str
    digest: str
    publication: int | None
    cohort: str
    whole: Counted
    hours: list[CellInTime]


def counted_by_hour(product: Product, start: datetime, end: datetime) -> list[Hourly]:
    """What was counted in start <= step < end: each stream as a whole and hour by hour.

    An hour that the stretch cuts has what lies inside it, as long as its steps are kept.
    """
    found = []
    for stream in _streams(product, start, end, RollupBy.CELL, RollupBy.TENANT):
        step_s = document_of(stream.digest).gates.step_s
        parts = list(timed_columns(stored_sheets(stream.pk, start, end, by_hour=True), step_s))
        names, placed = placed_by_name(parts)
        whole = Counted.of_columns(names, placed, (start, end, step_s))
        key = (stream.by, stream.digest, stream.publication, stream.cohort)
        found.append(Hourly(*key, whole, list(_in_time(names, placed, HOUR))))
    return found


def tenants_in_time(
    product: Product, start: datetime, end: datetime, length: timedelta
) -> list[CellInTime]:
    """What tenants used in start <= step < end by stretches of so long, counted from the epoch.

    A tenant may stand there several times for one stretch: once for each generation.
    """
    found: list[CellInTime] = []
    by_hour = length >= HOUR
    for stream in _streams(product, start, end, RollupBy.TENANT):
        step_s = document_of(stream.digest).gates.step_s
        sheets = stored_sheets(stream.pk, start, end, by_hour=by_hour)
        names, placed = placed_by_name(list(timed_columns(sheets, step_s)))
        found += _in_time(names, placed, length)
    return found


def _in_time(names: list[CellName], parts: list[Timed], length: timedelta) -> Iterator[CellInTime]:
    length_s, cells = int(length.total_seconds()), max(1, len(names))
    numbers = [np.asarray(p.at_s) // length_s * cells + p.columns.cell for p in parts]
    columns = regrouped([_without_clocks(part.columns) for part in parts], numbers)
    for number, sums in zip(columns.cell.tolist(), sums_of(columns), strict=True):
        stretch, place = divmod(number, cells)
        yield CellInTime(datetime.fromtimestamp(stretch * length_s, UTC), names[place], sums)


def _without_clocks(columns: Columns) -> Columns:
    """Without histograms and bounds, which money doesn't ask for and which are most of it."""
    none = columns.within[:, :0]
    empty = Entries(_NONE, _NONE, _NONE)
    return replace(columns, bounds=(), within=none, judged=none, histogram=empty)


def _streams(product: Product, start: datetime, end: datetime, *by: RollupBy) -> list[RollupStream]:
    asked: dict[str, Any] = {"product": product.pk, "by": list(map(str, by))}
    asked |= {"start": start, "end": end}
    asked["first_day"], asked["last_day"] = start.astimezone(UTC).date(), end.astimezone(UTC).date()
    return list(RollupStream.objects.raw(_STREAMS, asked))
