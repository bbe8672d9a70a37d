"""What records add to the rollups: sparse counters, latency on the fixed grid, sums."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from ingest.models import RollupDelta
from orchid.engine import outcome
from orchid.engine.clocks import CLOCK_OF_GATE, LatencyBound, latency_bounds
from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import bucket_of
from orchid.engine.segments import segment_key
from orchid.engine.wire.records import RequestRecord
from policies.models import GateBound, Product


@dataclass(frozen=True)
class Counted:
    """A record and the document it was decided under."""

    record: RequestRecord
    document: PolicyDocument

    @cached_property
    def populations(self) -> frozenset[str]:
        return outcome.populations(self.record, self.document)


class Key(NamedTuple):
    step_at: datetime
    publication: int | None
    digest: str
    cohort: str
    dims_key: str
    route: str
    manifest: str


@dataclass
class Sums:
    dims: dict[str, str]
    counters: Counter[str] = field(default_factory=Counter)
    histogram: Counter[int] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0


def append_deltas(product: Product, counted: Iterable[Counted]) -> None:
    """Append what these records add. No row is ever updated, so no two workers meet."""
    sums = summed(counted, bounds_of(product))
    RollupDelta.objects.bulk_create(_delta(product, key, one) for key, one in sums.items())


def bounds_of(product: Product) -> tuple[LatencyBound, ...]:
    """Every latency bound that a generation of the product has: any of them may come to be live."""
    rows = GateBound.objects.filter(
        revision__generation__product=product, metric__in=CLOCK_OF_GATE
    ).values_list("metric", "bound")
    bounds = {LatencyBound(CLOCK_OF_GATE[metric], float(bound)) for metric, bound in rows}
    return tuple(sorted(bounds, key=lambda bound: bound.key))


def summed(counted: Iterable[Counted], bounds: Sequence[LatencyBound]) -> dict[Key, Sums]:
    """Sums by key; each document's own bounds are counted beside the given ones."""
    sums: dict[Key, Sums] = {}
    counted_bounds: dict[str, frozenset[LatencyBound]] = defaultdict(frozenset)
    for one in counted:
        digest = one.record.digest or ""
        if digest not in counted_bounds:
            counted_bounds[digest] = frozenset(bounds) | set(latency_bounds(one.document))
        key = _key(one)
        sums.setdefault(key, Sums(dict(one.record.segment)))
        _add(sums[key], one, counted_bounds[digest])
    return sums


def _key(one: Counted) -> Key:
    record = one.record
    return Key(
        step_of(record.arrived_at, one.document.gates.step_s),
        record.publication,
        record.digest or "",
        record.cohort,
        segment_key(record.segment),
        outcome.served_route(record),
        outcome.served_manifest(record),
    )


def step_of(arrived_at: datetime, step_s: int) -> datetime:
    """The start of the step of an arrival; steps count from the epoch."""
    return datetime.fromtimestamp(arrived_at.timestamp() // step_s * step_s, UTC)


def _add(sums: Sums, one: Counted, bounds: Iterable[LatencyBound]) -> None:
    record, document = one.record, one.document
    sums.counters.update(one.populations)
    sums.within.update(outcome.within(record, document, bounds))
    latency = outcome.latency_ms(record, document)
    if latency is not None:
        sums.histogram[bucket_of(latency)] += 1
    if record.decision is not None and record.decision.teu is not None:
        sums.teu += record.decision.teu
    sums.cost_usd += outcome.priced_usd(record)
    sums.records += 1


def _delta(product: Product, key: Key, sums: Sums) -> RollupDelta:
    return RollupDelta(
        product_id=product.pk,
        **key._asdict(),
        dims=sums.dims,
        counters=dict(sums.counters),
        histogram={str(bucket): count for bucket, count in sums.histogram.items()},
        within=dict(sums.within),
        teu=sums.teu,
        cost_usd=sums.cost_usd,
        records=sums.records,
    )
