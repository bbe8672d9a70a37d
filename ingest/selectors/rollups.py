"""What gates read: counters, histograms and sums by step and key.

Steps come from three places that never overlap: sheets that the compactor merged, deltas that it
has not merged yet, and hours for what is older than steps are kept. One statement reads them, so a
reader sees a step before it was merged or after, and never half of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from ingest.models import RollupCell, RollupStream
from ingest.states import RollupBy
from orchid.engine.rollup import Figure, Sums
from orchid.engine.rollup_bytes import Sheet, merged_sheets, unpack
from orchid.engine.rollup_hour import HOUR, blocks
from orchid.engine.segments import dims_of
from policies.models import Product

_SHEETS = """
    SELECT stream_id, step_at, sheet, false AS hour FROM ingest_rollupdelta
    WHERE stream_id = ANY(%(streams)s) AND step_at >= %(start)s AND step_at < %(end)s
    UNION ALL
    SELECT stream_id, step_at, sheet, false FROM ingest_rollup_step
    WHERE stream_id = ANY(%(streams)s) AND step_at >= %(start)s AND step_at < %(end)s
      AND day BETWEEN %(first_day)s AND %(last_day)s
    UNION ALL
    SELECT stream_id, hour_at, sheet, true FROM ingest_rolluphour
    WHERE stream_id = ANY(%(streams)s) AND stands_alone
      AND hour_at >= %(start)s AND hour_at < %(end)s AND hour_at <= %(last_hour)s
"""


@dataclass
class RollupRow:
    """Everything counted in one step for one combination of dimensions, route and manifest.

    `counters` has the populations of `orchid.engine.outcome.COUNTERS`, without those that are 0.
    `within` has how many requests kept each bound, by the bound's key, and `judged` how many were
    compared with it. `cost_usd` is what the attempts themselves stated; the fleet is paid by the
    ledger. `figures` are what guardrails read (see `orchid.engine.rollup.FIGURES`).
    """

    step_at: datetime
    dims: dict[str, str]
    route: str
    manifest: str
    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0
    tenant: str = ""


def rollup_rows(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> list[RollupRow]:
    """What was counted in start <= step < end, one row a key, in order of time.

    Where steps are no longer kept, the whole hours inside the window stand for them, ten minutes a
    row; an hour that the window cuts is left out.
    """
    stream = (RollupBy.CELL, digest, publication, cohort)
    return _rows(product, stream, start, end)


StreamKey = tuple[str, str, int | None, str]


def _rows(product: Product, stream: StreamKey, start: datetime, end: datetime) -> list[RollupRow]:
    found = stream_of(product, stream)
    if found is None:
        return []
    sheets = sheets_of(found, start, end)
    cells = cells_of({cell for sheet in sheets.values() for cell in sheet})
    rows = (row_of(at, cells[cell], sheet[cell]) for at, sheet in sheets.items() for cell in sheet)
    return sorted(rows, key=_in_order)


def sheets_of(stream: int, start: datetime, end: datetime) -> dict[datetime, Sheet]:
    """The stream's sheets by step, each merged from whatever parts it is stored in."""
    parts: dict[datetime, list[Sheet]] = defaultdict(list)
    for _, at, sheet in pieces([stream], start, end, last_hour=end - HOUR):
        parts[at].append(sheet)
    return {at: merged_sheets(found) for at, found in parts.items()}


def pieces(
    streams: Sequence[int], start: datetime, end: datetime, *, last_hour: datetime
) -> Iterator[tuple[int, datetime, Sheet]]:
    """Stream, step and sheet of everything stored, a step perhaps in several parts.

    Hours that stand for dropped steps come by blocks; `last_hour` is the last that may.
    """
    asked: dict[str, Any] = {"streams": list(streams), "start": start, "end": end}
    asked["first_day"], asked["last_day"] = start.astimezone(UTC).date(), end.astimezone(UTC).date()
    with connection.cursor() as cursor:
        cursor.execute(_SHEETS, asked | {"last_hour": last_hour})
        found = cursor.fetchall()
    for stream, at, data, hour in found:
        sheet = unpack(bytes(data))
        for step_at, part in blocks(at, sheet) if hour else [(at, sheet)]:
            yield stream, step_at, part


def stream_of(product: Product, stream: StreamKey) -> int | None:
    """The id of a stream; None when nothing was ever counted in it."""
    by, digest, publication, cohort = stream
    found = RollupStream.objects.filter(
        product=product, by=by, digest=digest, publication=publication, cohort=cohort
    )
    return found.values_list("pk", flat=True).first()


def cells_of(ids: Iterable[int]) -> dict[int, RollupCell]:
    """The cells that sheets name by these ids."""
    return RollupCell.objects.in_bulk(list(ids))


def row_of(step_at: datetime, cell: RollupCell, sums: Sums) -> RollupRow:
    """One cell of one step as a row."""
    return RollupRow(
        step_at,
        dims_of(cell.dims_key),
        cell.route,
        cell.manifest,
        sums.counters,
        sums.histogram,
        sums.within,
        sums.judged,
        sums.figures,
        sums.teu,
        sums.cost_usd,
        sums.records,
        cell.tenant,
    )


def _in_order(row: RollupRow) -> tuple[datetime, list[tuple[str, str]], str, str, str]:
    return row.step_at, sorted(row.dims.items()), row.route, row.manifest, row.tenant
