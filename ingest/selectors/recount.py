"""Whether the rollups say what the stored requests say: counted again from the rows.

A step that an edge counted by rollups of its own has no row for each request, so it is left out
and told apart.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.models import EdgeStep, RollupStream
from ingest.selectors.recounted import EVERY_TENANT, IN_ROWS, Place, Recounted, recounted
from ingest.selectors.rollups import cells_of, sheets_of
from ingest.services.dimensions import OTHER
from ingest.states import CountedBy, RollupBy
from orchid.engine.clocks import LatencyBound
from orchid.engine.rollup import Figure, Sums
from policies.models import Product


@dataclass(frozen=True)
class Difference:
    """One figure of one rollup that the rows don't bear out."""

    place: Place
    figure: str
    rollup: Any
    rows: Any


@dataclass
class Recount:
    """How much was counted again, and where it came to something else.

    `late_bounds` are latency bounds that came while a step was counted: nobody knows which of its
    requests were compared with them, so these are not.
    """

    requests: int = 0
    steps: int = 0
    left_out: int = 0
    late_bounds: set[str] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)


def recount(product: Product, start: datetime, end: datetime) -> Recount:
    """Count the steps with start <= step < end again from the rows, and compare.

    Under which name a tenant was counted may have changed since, so what is compared by tenant is
    the sum over all of them, and that none has more requests under its name than it has rows.
    """
    own_steps = EdgeStep.objects.filter(
        product=product, counted_by=CountedBy.ROLLUPS, step_at__gte=start, step_at__lt=end
    )
    skipped = set(own_steps.values_list("step_at", flat=True))
    cells = _by_place(product, RollupBy.CELL, start, end)
    tenants = _by_place(product, RollupBy.TENANT, start, end)
    bounds = {key for sums in cells.values() for key in sums.judged}
    rows = recounted(product, start, end, [LatencyBound.of(key) for key in sorted(bounds)])
    found = Recount(left_out=len(skipped))
    places = {place for place in rows.places.keys() | cells if place.step_at not in skipped}
    found.steps = len({place.step_at for place in places})
    found.requests = sum(rows.places[place].records for place in places)
    _compare(found, cells, rows.places, skipped)
    _compare(found, _of_all(tenants), rows.with_tenants, skipped)
    found.differences += _beyond_their_rows(tenants, rows, skipped)
    return found


def _by_place(product: Product, by: RollupBy, start: datetime, end: datetime) -> dict[Place, Sums]:
    places: dict[Place, Sums] = {}
    for stream in RollupStream.objects.filter(product=product, by=by):
        sheets = sheets_of(stream.pk, start, end)
        cells = cells_of({cell for sheet in sheets.values() for cell in sheet})
        for step_at, sheet in sheets.items():
            for pk, sums in sheet.items():
                cell = cells[pk]
                key = (step_at, stream.publication, stream.digest, stream.cohort)
                served = (cell.dims_key, cell.route, cell.manifest)
                places[Place(*key, *served, cell.tenant)] = sums
    return places


def _of_all(tenants: dict[Place, Sums]) -> dict[Place, Sums]:
    found: dict[Place, Sums] = defaultdict(Sums)
    for place, sums in tenants.items():
        found[place._replace(tenant=EVERY_TENANT)].merge(sums)
    return found


def _beyond_their_rows(
    tenants: dict[Place, Sums], rows: Recounted, skipped: set[datetime]
) -> Iterator[Difference]:
    for place, sums in tenants.items():
        own = rows.tenants[place]
        if place.tenant != OTHER and place.step_at not in skipped and sums.records > own:
            yield Difference(place, "records", sums.records, own)


def _compare(
    found: Recount, rollups: dict[Place, Sums], rows: dict[Place, Sums], skipped: set[datetime]
) -> None:
    for place in sorted(rollups.keys() | rows.keys(), key=str):
        if place.step_at in skipped:
            continue
        ours, theirs = rollups.get(place, Sums()), rows.get(place, Sums())
        late = {key for key in ours.judged if ours.judged[key] < theirs.judged[key]}
        found.late_bounds |= late
        figures = _figures(ours, late), _figures(theirs, late)
        for name in sorted(figures[0].keys() | figures[1].keys()):
            one, other = figures[0].get(name, 0), figures[1].get(name, 0)
            if one != other:
                found.differences.append(Difference(place, name, one, other))


def _figures(sums: Sums, late: set[str]) -> dict[str, Any]:
    """Every figure that rows can tell, by name; what is 0 or empty is left out."""
    within = {key: kept for key, kept in sums.within.items() if key not in late}
    known: dict[str, Figure] = {
        name: sums.figures[name] for name in IN_ROWS if name in sums.figures
    }
    single = {
        "records": sums.records,
        "teu": sums.teu,
        "cost_usd": sums.cost_usd,
        "histogram": dict(+Counter(sums.histogram)),
    }
    found: dict[str, Any] = {**sums.counters, **within, **known, **single}
    return {name: value for name, value in found.items() if value}
