"""Whether the rollups say what the stored requests say: counted again from the rows.

A step that an edge counted by rollups of its own has no row for each request, so it is left out
and told apart.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from ingest.models import EdgeStep, RequestRow, RollupStream
from ingest.selectors.rollups import cells_of, sheets_of
from ingest.states import CountedBy, RollupBy
from orchid.engine.histogram import OVERFLOW, bucket_of
from orchid.engine.outcome import names_of
from orchid.engine.rollup import Sums, step_of
from orchid.engine.standing import DELIVERED_OUTCOMES
from policies.models import Product
from policies.selectors import document_of

_COLUMNS = (
    "arrived_at",
    "publication",
    "digest",
    "cohort",
    "dims_key",
    "route",
    "manifest",
    "outcome",
    "completion_ms",
    "population_bits",
    "teu",
    "cost_usd",
)
_CHUNK = 2_000


class Place(NamedTuple):
    """What one rollup is about; `dims_key` is spelled by `orchid.engine.segments.segment_key`."""

    step_at: datetime
    publication: int | None
    digest: str
    cohort: str
    dims_key: str
    route: str
    manifest: str


@dataclass(frozen=True)
class Difference:
    """One figure of one rollup that the rows don't bear out."""

    place: Place
    figure: str
    rollup: Any
    rows: Any


@dataclass
class Recount:
    """How much was counted again, and where it came to something else."""

    requests: int = 0
    steps: int = 0
    left_out: int = 0
    differences: list[Difference] = field(default_factory=list)


def recount(product: Product, start: datetime, end: datetime) -> Recount:
    """Count the steps with start <= step < end again from the rows, and compare."""
    skipped = set(
        EdgeStep.objects.filter(
            product=product, counted_by=CountedBy.ROLLUPS, step_at__gte=start, step_at__lt=end
        ).values_list("step_at", flat=True)
    )
    of_rows = _of_rows(product, start, end)
    of_rollups = _of_rollups(product, start, end)
    found = Recount(left_out=len(skipped))
    places = {place for place in of_rows.keys() | of_rollups if place.step_at not in skipped}
    found.steps = len({place.step_at for place in places})
    for place in sorted(places, key=str):
        rows, rollup = of_rows.get(place, Sums()), of_rollups.get(place, Sums())
        found.requests += rows.records
        found.differences += _compared(place, rollup, rows)
    return found


def _of_rows(product: Product, start: datetime, end: datetime) -> dict[Place, Sums]:
    longest = timedelta(days=1)
    rows = RequestRow.objects.filter(
        product_id=product.pk,
        day__gte=start.astimezone(UTC).date(),
        day__lte=(end + longest).astimezone(UTC).date(),
        arrived_at__gte=start,
        arrived_at__lt=end + longest,
    ).values_list(*_COLUMNS)
    places: dict[Place, Sums] = defaultdict(Sums)
    for row in rows.iterator(chunk_size=_CHUNK):
        place, sums = _facts(*row)
        if sums.records and start <= place.step_at < end:
            places[place].merge(sums)
    return places


def _facts(
    arrived_at: datetime,
    publication: int | None,
    digest: str,
    cohort: str,
    dims_key: str,
    route: str,
    manifest: str,
    outcome: str,
    completion_ms: float | None,
    population_bits: int,
    teu: Decimal | None,
    cost_usd: Decimal,
) -> tuple[Place, Sums]:
    """What one row adds, and where; a row without populations is counted in a rollup."""
    step_at = step_of(arrived_at, document_of(digest).gates.step_s)
    place = Place(step_at, publication, digest, cohort, dims_key, route, manifest)
    populations = names_of(population_bits)
    sums = Sums(Counter(populations), records=1 if populations else 0)
    if "latency_counted" in populations:
        told = completion_ms if outcome in DELIVERED_OUTCOMES else None
        sums.histogram[OVERFLOW if told is None else bucket_of(told)] += 1
    if populations:
        sums.add_teu(teu or Decimal(0))
        sums.add_usd(cost_usd)
    return place, sums


def _of_rollups(product: Product, start: datetime, end: datetime) -> dict[Place, Sums]:
    places: dict[Place, Sums] = {}
    for stream in RollupStream.objects.filter(product=product, by=RollupBy.CELL):
        sheets = sheets_of(stream.pk, start, end)
        cells = cells_of({cell for sheet in sheets.values() for cell in sheet})
        for step_at, sheet in sheets.items():
            for pk, sums in sheet.items():
                cell = cells[pk]
                key = (stream.publication, stream.digest, stream.cohort)
                served = (cell.dims_key, cell.route, cell.manifest)
                places[Place(step_at, *key, *served)] = sums
    return places


def _compared(place: Place, rollup: Sums, rows: Sums) -> Iterator[Difference]:
    for name in sorted(rollup.counters.keys() | rows.counters.keys()):
        if rollup.counters[name] != rows.counters[name]:
            yield Difference(place, name, rollup.counters[name], rows.counters[name])
    for name in ("records", "teu", "cost_usd"):
        ours, theirs = getattr(rollup, name), getattr(rows, name)
        if ours != theirs:
            yield Difference(place, name, ours, theirs)
    if rollup.histogram != rows.histogram:
        yield Difference(place, "histogram", dict(rollup.histogram), dict(rows.histogram))
