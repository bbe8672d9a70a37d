"""What gates read: everything counted in a window, as columns.

Whole hours of a long window are read as hours, which hold exactly what their merged steps hold (see
`ingest.services.hours`), and everything else as steps and as what was not merged yet. One statement
reads all three, so that a compaction that ends in between changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from ingest.selectors.rollups import StreamKey, stream_of
from ingest.states import RollupBy
from orchid.engine.rollup_bytes import are_rows, columns_in, unpack
from orchid.engine.rollup_columns import Columns, columns_of
from orchid.engine.rollup_hour import HOUR, cells_and_blocks
from orchid.engine.verdict.counted import BLOCK_S, CellName, Counted, Timed, block_length
from policies.models import Product
from policies.selectors import document_of

# An hour stands for its steps where the window has it whole and is told by blocks anyway, or where
# its steps are gone.
_STORED = """
    WITH whole AS (
        SELECT hour_at, sheet FROM ingest_rolluphour
        WHERE stream_id = %(stream)s AND (stands_alone OR %(by_hour)s)
          AND hour_at >= %(start)s AND hour_at <= %(last_hour)s
    )
    SELECT step_at, sheet, false FROM ingest_rollupdelta
    WHERE stream_id = %(stream)s AND step_at >= %(start)s AND step_at < %(end)s
    UNION ALL
    SELECT step_at, sheet, false FROM ingest_rollup_step
    WHERE stream_id = %(stream)s AND step_at >= %(start)s AND step_at < %(end)s
      AND day BETWEEN %(first_day)s AND %(last_day)s
      AND date_trunc('hour', step_at, 'UTC') NOT IN (SELECT hour_at FROM whole)
    UNION ALL
    SELECT hour_at, sheet, true FROM whole
"""
# One parameter, where Django would spell hundreds.
_NAMES = "SELECT id, dims_key, route, manifest, tenant FROM ingest_rollupcell WHERE id = ANY(%s)"


class StoredSheet(NamedTuple):
    """A sheet as it lies: of one step, or of an hour."""

    at_s: int
    data: bytes
    is_hour: bool


def counted(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> Counted:
    """What was counted in start <= step < end by dimensions, route and manifest."""
    return _counted(product, (RollupBy.CELL, digest, publication, cohort), start, end)


def counted_by_tenant(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> Counted:
    """The same by tenant, for those tenants that keep a name of their own and `other`."""
    return _counted(product, (RollupBy.TENANT, digest, publication, cohort), start, end)


def steps(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> Counted:
    """What was counted, with each step as a block of its own as long as steps are kept."""
    stream = (RollupBy.CELL, digest, publication, cohort)
    return _counted(product, stream, start, end, by_step=True)


def last_request_at(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> datetime | None:
    """The start of the last step of the window with an eligible request; None without one.

    Read from the end backwards, so that it costs little where there is traffic.
    """
    stream = (RollupBy.CELL, digest, publication, cohort)
    until, span = end, 2 * timedelta(seconds=document_of(digest).gates.step_s)
    while until > start:
        since = max(start, until - span)
        found = _last_eligible(_counted(product, stream, since, end, by_step=True))
        if found is not None:
            return found
        until, span = since, 4 * span
    # An hour whose steps are gone is seen only where no stretch cuts it.
    return _last_eligible(_counted(product, stream, start, end, by_step=True))


def _last_eligible(some: Counted) -> datetime | None:
    times = some.blocks.at_s[some.eligible_by_block > 0]
    return datetime.fromtimestamp(int(times.max()), UTC) if len(times) else None


def _counted(
    product: Product, key: StreamKey, start: datetime, end: datetime, *, by_step: bool = False
) -> Counted:
    window = (start, end, document_of(key[1]).gates.step_s)
    stream = stream_of(product, key)
    if stream is None:
        return Counted.of_columns((), (), window, by_step=by_step)
    by_hour = not by_step and block_length(*window) >= BLOCK_S
    parts = list(timed_columns(stored_sheets(stream, start, end, by_hour=by_hour), window[2]))
    names, placed = placed_by_name(parts)
    return Counted.of_columns(names, placed, window, by_step=by_step)


def placed_by_name(parts: Sequence[Timed]) -> tuple[list[CellName], list[Timed]]:
    """The names of all cells, and the parts with the places of those in the place of ids."""
    ids = np.unique(np.concatenate([np.zeros(0, np.int64), *(p.columns.cell for p in parts)]))
    placed = [
        Timed(_with_cells(columns, np.searchsorted(ids, columns.cell)), at_s)
        for columns, at_s in parts
    ]
    return _names(ids.tolist()), placed


def stored_sheets(
    stream: int, start: datetime, end: datetime, *, by_hour: bool
) -> list[StoredSheet]:
    """A stream's sheets of start <= step < end; whole hours as hours where `by_hour`."""
    asked: dict[str, Any] = {"stream": stream, "by_hour": by_hour, "start": start, "end": end}
    asked["first_day"], asked["last_day"] = start.astimezone(UTC).date(), end.astimezone(UTC).date()
    with connection.cursor() as cursor:
        cursor.execute(_STORED, asked | {"last_hour": end - HOUR})
        return [
            StoredSheet(int(at.timestamp()), bytes(s), hour) for at, s, hour in cursor.fetchall()
        ]


def timed_columns(stored: Iterable[StoredSheet], step_s: int) -> Iterator[Timed]:
    """Columns with the time of each row. Small sheets, which are rows, are made columns at once."""
    small = []
    for at_s, data, is_hour in stored:
        if are_rows(data) and not is_hour:
            small += [(at_s, cell, sums) for cell, sums in unpack(data).items()]
            continue
        columns = columns_in(data)
        if is_hour:
            cell, since_s = cells_and_blocks(columns)
            # A step longer than a block begins somewhere in its block.
            begun = -(-(at_s + since_s) // step_s) * step_s if step_s > BLOCK_S else at_s + since_s
            yield Timed(_with_cells(columns, cell), begun)
        else:
            yield Timed(columns, np.full(len(columns.cell), at_s))
    if small:
        columns = columns_of({n: sums for n, (_, _, sums) in enumerate(small)})
        cell = np.array([cell for _, cell, _ in small], dtype=np.int64)
        yield Timed(
            _with_cells(columns, cell), np.array([at for at, _, _ in small], dtype=np.int64)
        )


def _with_cells(columns: Columns, cell: Any) -> Columns:
    return replace(columns, cell=cell)


def _names(ids: list[int]) -> list[CellName]:
    """The cells' names, in the order of their ids."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, [ids])
        names = {pk: CellName(*name) for pk, *name in cursor.fetchall()}
    return [names[pk] for pk in ids]
