"""Everything that a product counted in a stretch of time, whatever generations there were.

Every stream is read by one statement: by hour for what the ledger is laid on, by tenant over a
window for budgets.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

import numpy as np

from ingest.models import RollupCell, RollupStream
from ingest.selectors.rollups import cells_of, pieces
from ingest.states import RollupBy
from orchid.engine.rollup_columns import Wholes, columns_of
from orchid.engine.rollup_hour import HOUR, hour_of
from orchid.engine.verdict.counted import CellName, Counted, Timed
from policies.models import Product
from policies.selectors import document_of

PlaceT = TypeVar("PlaceT", bound=Hashable)


class HourOf(NamedTuple):
    """One generation under one publication in one hour; by cell or by tenant, as `by` says."""

    hour_at: datetime
    by: str
    digest: str
    publication: int | None
    cohort: str


def counted_by_hour(product: Product, start: datetime, end: datetime) -> dict[HourOf, Counted]:
    """What was counted in start <= step < end, each hour of each stream by itself.

    An hour that the stretch cuts has what lies inside it, as long as its steps are kept.
    """

    def place(stream: RollupStream, at: datetime) -> HourOf:
        return HourOf(hour_of(at), stream.by, stream.digest, stream.publication, stream.cohort)

    return _read(RollupStream.objects.filter(product=product), start, end, place)


def tenants_counted(product: Product, start: datetime, end: datetime) -> Counted | None:
    """What every tenant used in start <= step < end; None where nothing was counted."""
    streams = RollupStream.objects.filter(product=product, by=RollupBy.TENANT)
    return _read(streams, start, end, lambda *_: None).get(None)


def tenants_by_step(product: Product, start: datetime, end: datetime) -> dict[datetime, Counted]:
    """The same, step by step."""
    streams = RollupStream.objects.filter(product=product, by=RollupBy.TENANT)
    return _read(streams, start, end, lambda _, at: at)


def _read(
    chosen: Iterable[RollupStream],
    start: datetime,
    end: datetime,
    place: Callable[[RollupStream, datetime], PlaceT],
) -> dict[PlaceT, Counted]:
    streams = {stream.pk: stream for stream in chosen}
    parts: dict[PlaceT, list[Timed]] = defaultdict(list)
    steps: dict[PlaceT, int] = {}
    for pk, step_at, sheet in pieces(list(streams), start, end, last_hour=end - HOUR):
        at = step_at.astimezone(UTC)
        columns, where = columns_of(sheet), place(streams[pk], at)
        parts[where].append(Timed(columns, np.full(len(columns.cell), int(at.timestamp()))))
        steps[where] = document_of(streams[pk].digest).gates.step_s
    cells = [part.columns.cell for some in parts.values() for part in some]
    ids = np.unique(np.concatenate([np.zeros(0, np.int64), *cells]))
    names = [_named(cell) for _, cell in sorted(cells_of(ids.tolist()).items())]
    return {
        where: Counted.of_columns(
            names, [_placed(part, ids) for part in parts[where]], (start, end, steps[where])
        )
        for where in parts
    }


def _placed(part: Timed, ids: Wholes) -> Timed:
    return part._replace(
        columns=replace(part.columns, cell=np.searchsorted(ids, part.columns.cell))
    )


def _named(cell: RollupCell) -> CellName:
    return CellName(cell.dims_key, cell.route, cell.manifest, cell.tenant)
