"""What calibration shows: every cell against its promise, what moved, what could be drafted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet, Sum

from gates.models import (
    CalibrationCell,
    CalibrationCursor,
    CalibrationWatch,
    CompletionBin,
    PricedOut,
)
from gates.selectors.verdicts import live_window
from orchid.engine.binomial import clopper_pearson
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.standing import Standing, cells_to_propose, standings
from orchid.engine.calibration.sums import CellKey, CellSum
from orchid.engine.document.demand import Demand
from policies.models import Product
from policies.selectors import document_of, generations, revision

#: What is judged, and what an estimate's interval is taken from before it.
WINDOW, BEFORE = timedelta(days=7), timedelta(days=28)


@dataclass(frozen=True)
class Reliable:
    """Forecasts of one bin against how many were in time, with exact bounds of that share."""

    kind: str
    bin: int
    predicted: float
    n: int
    hits: int
    low: float
    high: float

    @property
    def observed(self) -> float:
        return self.hits / self.n


@dataclass(frozen=True)
class Drift:
    """How far the demand model's error moved: `value` is the largest shift that an alarm confirms.

    As a part of the error before; 0 where nothing is confirmed, None where nothing is watched yet.
    """

    value: float | None
    demand_version: str
    watched: int
    alarms: list[dict[str, Any]]


@dataclass(frozen=True)
class Calibrated:
    """The standing of one demand model over the last days."""

    demand_version: str
    digest: str
    rows: list[Standing]
    watches: Mapping[CellKey, CalibrationWatch]
    proposal: list[dict[str, Any]]
    reliability: list[Reliable]
    since: datetime
    until: datetime
    read: int
    stored: int

    def of(self, measure: Measure) -> list[Standing]:
        return [row for row in self.rows if row.key.measure is measure]

    def of_cell(self, cell: Cell) -> list[Standing]:
        return [row for row in self.rows if row.key.cell == cell]


def digest_in_force(product: Product) -> str:
    """What is live; the newest generation where nothing is yet."""
    window = live_window(product)
    return window.digest if window else str(revision(generations(product)[0]).digest)


def calibrated(product: Product, now: datetime) -> Calibrated:
    """The demand model in force, judged on what the last days recorded."""
    digest = digest_in_force(product)
    demand = document_of(digest).demand
    since = now - WINDOW
    lines = _lines(_cells(product, demand).filter(day__gte=since.date()))
    earlier = _cells(product, demand).filter(day__lt=since.date(), day__gte=(since - BEFORE).date())
    before = _lines(earlier.filter(measure__in=[m for m in Measure if not m.is_bound]))
    rows = standings(lines, before, _refused(product, demand, since))
    cursor = CalibrationCursor.objects.filter(product=product).first()
    return Calibrated(
        demand_version=demand.version,
        digest=digest,
        rows=rows,
        watches={_key(row): row for row in _watches(product, demand)},
        proposal=cells_to_propose(rows, demand),
        reliability=_reliability(product, demand, since),
        since=since,
        until=now,
        read=cursor.read if cursor else 0,
        stored=cursor.stored if cursor else 0,
    )


def drift(product: Product) -> Drift:
    """Whether the work that a TEU stands for has moved in any cell, by the watch's alarms."""
    demand = document_of(digest_in_force(product)).demand
    rows = list(_watches(product, demand).filter(measure=Measure.WORK))
    alarmed = [row for row in rows if row.alarm_at is not None]
    shifts = [abs(row.shift) for row in alarmed if row.shift is not None]
    watched = sum(row.blocks > 0 for row in rows)
    return Drift(
        value=max(shifts, default=0.0) if watched else None,
        demand_version=demand.version,
        watched=watched,
        alarms=[_alarm(row) for row in alarmed],
    )


def _alarm(row: CalibrationWatch) -> dict[str, Any]:
    return {
        "route": row.route,
        "input_bucket": row.input_bucket,
        "output_bucket": row.output_bucket,
        "version": row.version,
        "measure": row.measure,
        "shift": row.shift,
        "blocks": row.blocks,
        "alarm_at": row.alarm_at,
    }


def _cells(product: Product, demand: Demand) -> QuerySet[CalibrationCell]:
    return CalibrationCell.objects.filter(product=product, demand_version=demand.version)


def _watches(product: Product, demand: Demand) -> QuerySet[CalibrationWatch]:
    found = CalibrationWatch.objects.filter(product=product, demand_version=demand.version)
    return found.order_by("route", "input_bucket", "output_bucket", "version", "measure")


def _lines(rows: QuerySet[CalibrationCell]) -> dict[CellKey, CellSum]:
    found: dict[CellKey, CellSum] = {}
    for row in rows:
        found.setdefault(_key(row), CellSum()).merge(sum_of(row))
    return found


def sum_of(row: CalibrationCell) -> CellSum:
    """The stored sums of one day."""
    total = CellSum(row.n, row.within, row.promised, row.predicted, row.observed)
    total.ratios.update({int(bucket): count for bucket, count in row.ratios.items()})
    return total


def _key(row: CalibrationCell | CalibrationWatch) -> CellKey:
    cell = Cell(row.route, row.input_bucket, row.output_bucket)
    return CellKey(row.demand_version, cell, row.version, Measure(row.measure))


def _refused(product: Product, demand: Demand, since: datetime) -> dict[Cell, dict[str, int]]:
    """Refusals for their price by cell and tenant, most refused first."""
    rows = PricedOut.objects.filter(
        product=product, demand_version=demand.version, day__gte=since.date()
    )
    summed = rows.values_list("route", "input_bucket", "output_bucket", "tenant")
    found: dict[Cell, dict[str, int]] = {}
    for *shape, tenant, count in summed.annotate(total=Sum("n")).order_by("-total", "tenant"):
        found.setdefault(Cell(*shape), {})[tenant] = count
    return found


def _reliability(product: Product, demand: Demand, since: datetime) -> list[Reliable]:
    rows = CompletionBin.objects.filter(
        product=product, demand_version=demand.version, day__gte=since.date()
    )
    sums = rows.values("kind", "bin").annotate(
        n=Sum("n"), hits=Sum("hits"), predicted=Sum("predicted")
    )
    return [_reliable(**row) for row in sums.order_by("kind", "bin")]


def _reliable(kind: str, bin: int, n: int, hits: int, predicted: float) -> Reliable:
    return Reliable(kind, bin, predicted / n, n, hits, *clopper_pearson(hits, n))


def days_of(product: Product, keys: Sequence[CellKey]) -> list[CalibrationCell]:
    """The stored days of some cells, oldest first."""
    if not keys:
        return []
    cell = keys[0].cell
    rows = CalibrationCell.objects.filter(
        product=product,
        demand_version=keys[0].demand_version,
        route=cell.route,
        input_bucket=cell.input_bucket,
        output_bucket=cell.output_bucket,
    )
    return list(rows.order_by("day", "measure", "version"))
