"""What gates read: everything counted in a window, as columns."""

from dataclasses import replace
from datetime import datetime

import numpy as np

from ingest.models import RollupCell
from ingest.selectors.rollups import StreamKey, cells_of, pieces, sheets_of, stream_of
from ingest.states import RollupBy
from orchid.engine.rollup_columns import columns_of
from orchid.engine.rollup_hour import HOUR
from orchid.engine.verdict.counted import CellName, Counted, Timed
from policies.models import Product
from policies.selectors import document_of


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
    """What was counted, with each step as a block of its own."""
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
    """The start of the last step of the window with an eligible request; None without one."""
    stream = stream_of(product, (RollupBy.CELL, digest, publication, cohort))
    held = sheets_of(stream, start, end) if stream is not None else {}
    some = (at for at, sheet in held.items() if any(s.counters["eligible"] for s in sheet.values()))
    return max(some, default=None)


def _counted(
    product: Product, key: StreamKey, start: datetime, end: datetime, *, by_step: bool = False
) -> Counted:
    window = (start, end, document_of(key[1]).gates.step_s)
    stream = stream_of(product, key)
    held = list(pieces([stream], start, end, last_hour=end - HOUR)) if stream is not None else []
    sheets = [(columns_of(sheet), int(at.timestamp())) for _, at, sheet in held]
    ids = np.unique(np.concatenate([np.zeros(0, np.int64), *(c.cell for c, _ in sheets)]))
    names = [named(cell) for _, cell in sorted(cells_of(ids.tolist()).items())]
    parts = [
        Timed(replace(c, cell=np.searchsorted(ids, c.cell)), np.full(len(c.cell), at_s))
        for c, at_s in sheets
    ]
    return Counted.of_columns(names, parts, window, by_step=by_step)


def named(cell: RollupCell) -> CellName:
    """The name that a cell has in what was counted."""
    return CellName(cell.dims_key, cell.route, cell.manifest, cell.tenant)
