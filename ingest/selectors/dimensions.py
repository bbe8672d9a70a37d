"""How far the values of each dimension are told apart, for whoever wonders where theirs went."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from ingest.models import DimensionValue, RollupStream
from ingest.selectors.rollups import cells_of, sheets_of
from ingest.services.dimensions import MANIFEST, OTHER, ROUTE, TENANT, most_of
from ingest.states import RollupBy
from orchid.engine.segments import dims_of
from policies.models import Product

#: Requests are counted over so long before the moment that is asked about.
SPAN = timedelta(days=1)


@dataclass(frozen=True)
class DimensionShown:
    """A dimension: values kept of so many at most, and requests that fell into `other`.

    `kept` leaves out the values that documents name, which are kept beyond any bound. `changed_at`
    is since when the newest of the kept ones is counted by its name.
    """

    dimension: str
    kept: int
    most: int
    others: int
    requests: int
    changed_at: datetime | None


def dimensions(product: Product, now: datetime) -> list[DimensionShown]:
    """Every dimension that keeps a value or lost one, over the last day, by name."""
    values = DimensionValue.objects.filter(product=product).order_by("kept_since")
    rows = list(values.values_list("dimension", "kept_since"))
    kept, changed_at = Counter(name for name, _ in rows), dict(rows)
    requests, others = _counted(product, now - SPAN, now)
    return [
        DimensionShown(
            name, kept[name], most_of(name), others[name], requests[name], changed_at.get(name)
        )
        for name in sorted(kept.keys() | others.keys())
    ]


def _counted(product: Product, start: datetime, end: datetime) -> tuple[Counter[str], Counter[str]]:
    """Requests by dimension, and those of them that fell into `other`."""
    requests: Counter[str] = Counter()
    others: Counter[str] = Counter()
    by_cell: Counter[int] = Counter()
    for stream in RollupStream.objects.filter(product=product):
        for sheet in sheets_of(stream.pk, start, end).values():
            for cell, sums in sheet.items():
                by_cell[cell] += sums.records
    for pk, seen in cells_of(by_cell).items():
        parts = dims_of(seen.dims_key) | {ROUTE: seen.route, MANIFEST: seen.manifest}
        if seen.by == RollupBy.TENANT:
            parts = {TENANT: seen.tenant}
        for name, value in parts.items():
            requests[name] += by_cell[pk]
            others[name] += by_cell[pk] if value == OTHER else 0
    return requests, Counter({name: count for name, count in others.items() if count})
