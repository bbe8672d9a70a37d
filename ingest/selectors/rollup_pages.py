"""Rollups one by one, newest step first, for dashboards and other machines."""

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from controlplane.errors import BadInput
from controlplane.web import CursorPage
from ingest.models import DimensionValue, RollupStream
from ingest.selectors.percentiles import SHOWN, Percentile, percentile_of
from ingest.selectors.rollups import RollupRow, cells_of, pieces, row_of
from ingest.services.dimensions import TENANT
from ingest.states import RollupBy
from orchid.engine.rollup import Figure, Sums, maximum_of, mean_of
from policies.models import Product

SIZE = 50
#: What is read where no start is asked for.
DEFAULT_SPAN = timedelta(days=1)
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_STEPS = """
    SELECT DISTINCT at FROM (
        SELECT step_at AS at FROM ingest_rollupdelta
        WHERE stream_id = ANY(%(streams)s) AND step_at >= %(start)s AND step_at < %(end)s
        UNION ALL
        SELECT step_at FROM ingest_rollup_step
        WHERE stream_id = ANY(%(streams)s) AND step_at >= %(start)s AND step_at < %(end)s
          AND day BETWEEN %(first_day)s AND %(last_day)s
        UNION ALL
        SELECT hour_at FROM ingest_rolluphour
        WHERE stream_id = ANY(%(streams)s) AND stands_alone
          AND hour_at >= %(start)s AND hour_at < %(end)s
    ) AS stored ORDER BY at DESC LIMIT %(most)s
"""

#: Time, stream and cell: where a row stands in the list.
Place = tuple[datetime, int, int]


@dataclass(frozen=True)
class Asked:
    """Which rollups; what is None is not asked for."""

    by: str = RollupBy.CELL
    digest: str | None = None
    publication: int | None = None
    cohort: str | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class BoundShown:
    """How many of the requests that a bound speaks of kept it; exact where each was compared."""

    bound: str
    within: int
    counted: int
    exact: bool


@dataclass(frozen=True)
class FigureShown:
    """A figure in the unit that its name ends with."""

    name: str
    count: int
    mean: float | None
    maximum: float | None


@dataclass(frozen=True)
class RollupSeen:
    """One rollup with what is read off it."""

    place: Place
    stream: RollupStream
    row: RollupRow
    #: Of a tenant that is kept by name: since when; of before some may lie in `other`.
    tenant_since: datetime | None = None

    @property
    def percentiles(self) -> list[Percentile]:
        """Of completion times."""
        return [percentile_of(self.row.histogram, quantile) for quantile in SHOWN]

    @property
    def bounds(self) -> list[BoundShown]:
        """Each bound that was counted."""
        return [_bound(self.row, key) for key in sorted(self.row.judged)]

    @property
    def figures(self) -> list[FigureShown]:
        """Each figure that a request had."""
        return [_figure(name, one) for name, one in sorted(self.row.figures.items())]


def rollup_page(product: Product, asked: Asked, cursor: str, now: datetime) -> CursorPage:
    """One page, newest first by (time, stream, cell). Raises BadInput for a cursor not of ours."""
    streams = {stream.pk: stream for stream in _streams(product, asked)}
    before = _decoded(cursor) if cursor else None
    since = _kept_since(product) if asked.by == RollupBy.TENANT else {}
    rows: list[RollupSeen] = []
    for at in _steps(list(streams), asked, before, now):
        found = sorted(_seen(streams, at, since), key=lambda row: row.place, reverse=True)
        rows += [row for row in found if before is None or row.place < before]
        if len(rows) > SIZE:
            break
    more = len(rows) > SIZE
    return CursorPage(rows[:SIZE], _encoded(rows[SIZE - 1].place) if more else "")


def _streams(product: Product, asked: Asked) -> list[RollupStream]:
    wanted = {"digest": asked.digest, "publication": asked.publication, "cohort": asked.cohort}
    given = {name: value for name, value in wanted.items() if value is not None}
    return list(RollupStream.objects.filter(product=product, by=asked.by, **given))


def _steps(
    streams: Sequence[int], asked: Asked, before: Place | None, now: datetime
) -> list[datetime]:
    """The newest steps that have any row, as many as a page could need."""
    end = asked.end or now + DEFAULT_SPAN
    start = asked.start or max(_FIRST, (asked.end or now) - DEFAULT_SPAN)
    if before is not None:
        end = min(end, before[0] + timedelta(microseconds=1))
    window = {
        "start": start,
        "end": end,
        "first_day": start.astimezone(UTC).date(),
        "last_day": end.astimezone(UTC).date(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_STEPS, {"streams": list(streams), "most": SIZE + 1, **window})
        return [at.astimezone(UTC) for (at,) in cursor.fetchall()]


def _kept_since(product: Product) -> dict[str, datetime]:
    kept = DimensionValue.objects.filter(product=product, dimension=TENANT)
    return dict(kept.values_list("value", "kept_since"))


def _seen(
    streams: dict[int, RollupStream], at: datetime, since: dict[str, datetime]
) -> Iterator[RollupSeen]:
    found: dict[Place, Sums] = {}
    until = at + timedelta(microseconds=1)
    for stream, step_at, sheet in pieces(list(streams), at, until, last_hour=at):
        for cell, sums in sheet.items():
            found.setdefault((step_at.astimezone(UTC), stream, cell), Sums()).merge(sums)
    cells = cells_of({cell for _, _, cell in found})
    for place, sums in found.items():
        step_at, stream, cell = place
        row = row_of(step_at, cells[cell], sums)
        yield RollupSeen(place, streams[stream], row, since.get(row.tenant))


def _bound(row: RollupRow, key: str) -> BoundShown:
    between = key.startswith(("inter_token<", "time_per_output_token<"))
    counted = row.counters.get("inter_token_counted" if between else "latency_counted", 0)
    return BoundShown(key, row.within.get(key, 0), counted, row.judged[key] == counted)


def _figure(name: str, figure: Figure) -> FigureShown:
    return FigureShown(name, figure.count, mean_of(name, figure), maximum_of(name, figure))


def _encoded(place: Place) -> str:
    value = [place[0].isoformat(), place[1], place[2]]
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> Place:
    try:
        at, stream, cell = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not (isinstance(stream, int) and isinstance(cell, int)):
            raise ValueError("no time with an offset, or no numbers")
        return moment.astimezone(UTC), stream, cell
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(
            "bad_cursor", "This cursor is not one of ours. Start again without it."
        ) from error
