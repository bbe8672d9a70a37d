"""Recorded requests into the sums of calibration: each counted batch is read once.

Everything that one reading does is one transaction under the lock of the product's cursor. Killed
at any line, either all of it is there with the cursor moved, or nothing; of two at once the second
finds the lock taken and leaves.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import F

from gates.models import (
    CalibrationCell,
    CalibrationCursor,
    CalibrationWatch,
    CompletionBin,
    PricedOut,
)
from ingest.selectors.batch_rows import rows_of_batch, settled_through, unread_batches
from orchid.engine.calibration import drift
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.sums import CellKey, CellSum, RefusedKey, Seen, Sums
from policies.models import Product, Revision
from policies.selectors import document_of

#: What one reading takes, and of each batch; a larger batch is sampled.
BATCHES, ROWS = 40, 1_000
#: What one tick may take of a worker: less than the time to the next.
MOST_S = 5.0
#: Versions and tenants that are told apart; a sender may name any number.
VERSIONS, TENANTS = 100, 100
OTHER = "other"
KEPT = timedelta(days=90)
#: The fraction that is added for each row's id: evenly spread, and blind to what the row says.
_GOLDEN = 0.6180339887498949


def read_everywhere(now: datetime) -> None:
    """Read what was counted in every product, and begin no reading after some seconds."""
    end = monotonic() + MOST_S
    for product in Product.objects.order_by("pk"):
        while read_requests(product, now) == BATCHES and monotonic() < end:
            pass


@transaction.atomic
def read_requests(product: Product, now: datetime) -> int:
    """Read what was counted since; returns how many batches, of which more may wait."""
    CalibrationCursor.objects.get_or_create(product=product)
    locked = CalibrationCursor.objects.select_for_update(skip_locked=True)
    cursor = locked.filter(product=product).first()
    if cursor is None:
        return 0
    sums = Sums()
    batches = unread_batches(product, cursor.through, cursor.ahead, now, BATCHES)
    known = _digests(product)
    for batch in batches:
        for row, request in rows_of_batch(batch, ROWS):
            if row.digest in known:
                turn = row.id * _GOLDEN % 1
                at_ms = row.arrived_at.timestamp() * 1000
                sums.add(document_of(row.digest), request, row.day, at_ms, turn)
    _store(product, sums)
    cursor.ahead = [*cursor.ahead, *(batch.pk for batch in batches)]
    cursor.through = settled_through(product, cursor.through, cursor.ahead, now)
    cursor.ahead = [pk for pk in cursor.ahead if pk > cursor.through]
    cursor.read += sums.requests
    cursor.stored += sum(int(batch.counts.get("inserted", 0)) for batch in batches)
    cursor.save()
    return len(batches)


def forget(now: datetime) -> None:
    """Drop the days that are past what calibration looks back on."""
    oldest = (now - KEPT).date()
    for model in (CalibrationCell, CompletionBin, PricedOut):
        model.objects.filter(day__lt=oldest).delete()


def _digests(product: Product) -> frozenset[str]:
    mine = Revision.objects.filter(generation__product=product)
    return frozenset(mine.values_list("digest", flat=True))


def _store(product: Product, sums: Sums) -> None:
    name = _versions(product, {key.version for _, key in sums.cells})
    _add_cells(product, _renamed(sums.cells.items(), name))
    _watch(product, sums.seen, name)
    _add_bins(product, sums)
    _add_refused(product, sums)


def _versions(product: Product, seen: set[str]) -> dict[str, str]:
    """What each version is kept under: its name, or `other` past the bound."""
    watched = CalibrationWatch.objects.filter(product=product)
    stored = set(watched.values_list("version", flat=True).distinct()[: 2 * VERSIONS])
    room = max(0, VERSIONS - len(stored))
    kept = stored | set(sorted(seen - stored)[:room])
    return {version: version[:200] if version in kept else OTHER for version in seen}


def _renamed(
    cells: Iterable[tuple[tuple[date, CellKey], CellSum]], name: dict[str, str]
) -> dict[tuple[date, CellKey], CellSum]:
    found: dict[tuple[date, CellKey], CellSum] = {}
    for (day, key), one in cells:
        found.setdefault((day, key._replace(version=name[key.version])), CellSum()).merge(one)
    return found


def _add_cells(product: Product, cells: dict[tuple[date, CellKey], CellSum]) -> None:
    days = {day for day, _ in cells}
    stored = CalibrationCell.objects.filter(product=product, day__in=days)
    known = {(row.day, _key_of(row)): row for row in stored}
    new, old = [], []
    for (day, key), one in cells.items():
        row = known.get((day, key))
        if row is None:
            new.append(_cell_row(product, day, key, one))
        else:
            old.append(_with(row, one))
    CalibrationCell.objects.bulk_create(new)
    changed = ["n", "within", "promised", "predicted", "observed", "ratios"]
    CalibrationCell.objects.bulk_update(old, changed, batch_size=200)


def _cell_row(product: Product, day: date, key: CellKey, one: CellSum) -> CalibrationCell:
    return CalibrationCell(
        product=product,
        day=day,
        version=key.version,
        measure=key.measure,
        n=one.n,
        within=one.within,
        promised=one.promised,
        predicted=one.predicted,
        observed=one.observed,
        ratios={str(bucket): count for bucket, count in sorted(one.ratios.items())},
        **_shape(key.demand_version, key.cell),
    )


def _with(row: CalibrationCell, one: CellSum) -> CalibrationCell:
    row.n += one.n
    row.within += one.within
    row.promised += one.promised
    row.predicted += one.predicted
    row.observed += one.observed
    for bucket, count in one.ratios.items():
        row.ratios[str(bucket)] = row.ratios.get(str(bucket), 0) + count
    return row


def _watch(product: Product, seen: dict[CellKey, list[Seen]], name: dict[str, str]) -> None:
    """Move each cell's watch on. What is kept under `other` is of no one version: not watched."""
    known = {_key_of(row): row for row in CalibrationWatch.objects.filter(product=product)}
    for key, ratios in seen.items():
        if name[key.version] == OTHER:
            continue
        key = key._replace(version=name[key.version])
        row = known.get(key) or CalibrationWatch(
            product=product,
            version=key.version,
            measure=key.measure,
            state={},
            **_shape(key.demand_version, key.cell),
        )
        watch = watch_of(row)
        for one in ratios:
            watch = drift.advance(watch, drift.log_of(one.ratio), one.at_ms, one.turn)
        _remember(row, watch)


def watch_of(row: CalibrationWatch) -> drift.Watch:
    """The watch as it was left."""
    state: dict[str, Any] = dict(row.state)
    if not state:
        return drift.Watch()
    state["places"] = {int(place): count for place, count in state["places"].items()}
    for name in ("recent", "wealth"):
        state[name] = tuple(state[name])
    return drift.Watch(**state)


def _remember(row: CalibrationWatch, watch: drift.Watch) -> None:
    state = asdict(watch)
    state["places"] = {str(place): count for place, count in watch.places.items()}
    row.state, row.blocks, row.evidence = state, watch.blocks, watch.evidence
    row.shift = watch.shift
    if watch.alarm_ms is not None and row.alarm_at is None:
        row.alarm_at = datetime.fromtimestamp(watch.alarm_ms / 1000, UTC)
    row.save()


def _add_bins(product: Product, sums: Sums) -> None:
    for (day, key), one in sums.bins.items():
        row, created = CompletionBin.objects.get_or_create(
            product=product,
            day=day,
            **key._asdict(),
            defaults={"n": one.n, "hits": one.hits, "predicted": one.predicted},
        )
        if not created:
            row.n, row.hits = row.n + one.n, row.hits + one.hits
            row.predicted += one.predicted
            row.save()


def _add_refused(product: Product, sums: Sums) -> None:
    for (day, key), count in sums.refused.items():
        tenant = _tenant(product, day, key)
        shape = _shape(key.demand_version, key.cell)
        mine = PricedOut.objects.filter(product=product, day=day, tenant=tenant, **shape)
        if not mine.update(n=F("n") + count):
            PricedOut.objects.create(product=product, day=day, tenant=tenant, n=count, **shape)


def _tenant(product: Product, day: date, key: RefusedKey) -> str:
    """By name while there is room in the cell's day."""
    shape = _shape(key.demand_version, key.cell)
    mine = PricedOut.objects.filter(product=product, day=day, **shape)
    known = mine.filter(tenant=key.tenant).exists() or mine.count() < TENANTS
    return key.tenant if known else OTHER


def _shape(demand_version: str, cell: Cell) -> dict[str, Any]:
    return {"demand_version": demand_version, **asdict(cell)}


def _key_of(row: CalibrationCell | CalibrationWatch) -> CellKey:
    cell = Cell(row.route, row.input_bucket, row.output_bucket)
    return CellKey(row.demand_version, cell, row.version, Measure(row.measure))
