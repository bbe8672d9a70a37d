"""What gates read: counters, histograms and sums by step and key."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ingest.models import RollupDelta
from orchid.engine.histogram import merge
from policies.models import Product


@dataclass
class RollupRow:
    """Everything counted in one step for one combination of dimensions, route and manifest.

    `counters` has the populations of `orchid.engine.outcome.COUNTERS`, without those that are 0.
    `within` has how many requests kept each bound, by the bound's key. `cost_usd` is what the
    attempts themselves stated; the fleet is paid by the ledger.
    """

    step_at: datetime
    dims: dict[str, str]
    route: str
    manifest: str
    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0

    def add(self, delta: RollupDelta) -> None:
        self.counters = added(self.counters, delta.counters)
        self.within = added(self.within, delta.within)
        self.histogram = merge(self.histogram, {int(k): n for k, n in delta.histogram.items()})
        self.teu += delta.teu
        self.cost_usd += delta.cost_usd
        self.records += delta.records


def added(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    """Both sparse counters as one."""
    return {key: left.get(key, 0) + right.get(key, 0) for key in left.keys() | right.keys()}


def rollup_rows(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    start: datetime,
    end: datetime,
) -> list[RollupRow]:
    """What was counted in start <= step < end, one row a key, in order of time."""
    deltas = RollupDelta.objects.filter(
        product_id=product.pk,
        digest=digest,
        publication=publication,
        cohort=cohort,
        step_at__gte=start,
        step_at__lt=end,
    ).order_by("step_at", "dims_key", "route", "manifest")
    return list(summed(deltas))


def summed(deltas: Iterable[RollupDelta]) -> Iterable[RollupRow]:
    """One row for each key; the order of the deltas changes nothing."""
    rows: dict[tuple[Any, ...], RollupRow] = {}
    for delta in deltas:
        key = (delta.step_at, delta.dims_key, delta.route, delta.manifest)
        if key not in rows:
            rows[key] = RollupRow(delta.step_at, delta.dims, delta.route, delta.manifest)
        rows[key].add(delta)
    return rows.values()
