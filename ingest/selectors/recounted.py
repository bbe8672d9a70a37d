"""What the stored requests come to when they are counted again, in the terms of rollups."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from ingest.models import RequestRow
from orchid.engine.clocks import Clocks, LatencyBound, keeps
from orchid.engine.histogram import OVERFLOW, bucket_of
from orchid.engine.outcome import names_of
from orchid.engine.rollup import FIGURES, Sums, step_of
from orchid.engine.standing import DELIVERED_OUTCOMES
from policies.models import Product
from policies.selectors import document_of

#: Figures that rows have in columns of their own.
IN_ROWS = ("first_token_ms", "max_gap_ms", "input_tokens", "cached_input_tokens", "output_tokens")
#: Those that only the recorded attempts and decisions tell.
NOT_IN_ROWS = tuple(name for name in FIGURES if name not in IN_ROWS)
#: In the place of a tenant's name: every request that has one.
EVERY_TENANT = "*"
_CHUNK = 2_000
#: A step begins at most so long before an arrival in it.
_LONGEST = timedelta(days=1)


class Place(NamedTuple):
    """What one rollup is about; `dims_key` is spelled by `orchid.engine.segments.segment_key`."""

    step_at: datetime
    publication: int | None
    digest: str
    cohort: str
    dims_key: str = ""
    route: str = ""
    manifest: str = ""
    tenant: str = ""


@dataclass
class Recounted:
    """Sums by cell, sums of all that have a tenant, and how many requests each tenant has."""

    places: dict[Place, Sums] = field(default_factory=lambda: defaultdict(Sums))
    with_tenants: dict[Place, Sums] = field(default_factory=lambda: defaultdict(Sums))
    tenants: Counter[Place] = field(default_factory=Counter)


class _Row(NamedTuple):
    """The columns that are read."""

    arrived_at: datetime
    publication: int | None
    digest: str
    cohort: str
    dims_key: str
    route: str
    manifest: str
    tenant: str
    outcome: str
    completion_ms: float | None
    first_token_ms: float | None
    max_gap_ms: float | None
    input_tokens: int | None
    cached_input_tokens: int | None
    output_tokens: int | None
    population_bits: int
    teu: Decimal | None
    cost_usd: Decimal


def recounted(
    product: Product, start: datetime, end: datetime, bounds: Collection[LatencyBound]
) -> Recounted:
    """Count the rows of steps with start <= step < end, and compare them with these bounds."""
    rows = RequestRow.objects.filter(
        product_id=product.pk,
        day__gte=start.astimezone(UTC).date(),
        day__lte=(end + _LONGEST).astimezone(UTC).date(),
        arrived_at__gte=start,
        arrived_at__lt=end + _LONGEST,
    ).values_list(*_Row._fields)
    found = Recounted()
    for values in rows.iterator(chunk_size=_CHUNK):
        row = _Row(*values)
        step_at = step_of(row.arrived_at, document_of(row.digest).gates.step_s)
        # A row without populations is counted in a rollup of its edge.
        if row.population_bits and start <= step_at < end:
            _add(found, row, step_at, _sums(row, bounds))
    return found


def _add(found: Recounted, row: _Row, step_at: datetime, sums: Sums) -> None:
    stream = (step_at, row.publication, row.digest, row.cohort)
    found.places[Place(*stream, row.dims_key, row.route, row.manifest)].merge(sums)
    if row.tenant:
        found.with_tenants[Place(*stream, tenant=EVERY_TENANT)].merge(sums)
        found.tenants[Place(*stream, tenant=row.tenant)] += 1


def _sums(row: _Row, bounds: Collection[LatencyBound]) -> Sums:
    populations = names_of(row.population_bits)
    sums = Sums(Counter(populations), records=1)
    delivered = row.outcome in DELIVERED_OUTCOMES
    if "latency_counted" in populations:
        told = row.completion_ms if delivered else None
        sums.histogram[OVERFLOW if told is None else bucket_of(told)] += 1
    at = _clocks(row)
    for bound in bounds:
        judged = bound.population in populations
        kept = judged and delivered and "latency_counted" in populations and keeps(at, bound)
        sums.judged[bound.key] += int(judged)
        sums.within[bound.key] += int(bool(kept))
    for name in IN_ROWS:
        sums.observe(name, getattr(row, name))
    sums.add_teu(row.teu or Decimal(0))
    sums.add_usd(row.cost_usd)
    return sums


def _clocks(row: _Row) -> Clocks:
    def known(value: Any, otherwise: float) -> float:
        return otherwise if value is None else float(value)

    return Clocks(
        known(row.first_token_ms, math.nan),
        known(row.max_gap_ms, math.nan),
        known(row.completion_ms, math.nan),
        known(row.output_tokens, math.inf),
        math.inf,
    )
