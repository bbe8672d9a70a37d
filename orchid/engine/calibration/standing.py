"""How the predictions of a demand model stand, cell by cell, from sums alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orchid.engine.calibration.conformal import needed_for, ratio_interval
from orchid.engine.calibration.fragment import cells_fragment
from orchid.engine.calibration.observed import NOMINAL, Measure, pad_in_force
from orchid.engine.calibration.ratios import SummedRatios, merged
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.sums import CellKey, CellSum
from orchid.engine.calibration.verdicts import Calibration, CellCalibration, Promise, judge_cell
from orchid.engine.document.demand import Demand

#: Worst first. What can't be judged is worse than what holds.
GRAVITY = (
    Calibration.DISABLE,
    Calibration.PAD,
    Calibration.OVER_PREDICTS,
    Calibration.TOO_FEW,
    Calibration.CALIBRATED,
)
#: Measures whose error the document corrects by a pad; they follow the price.
PRICED = (Measure.WORK, Measure.TEU)

Lines = Mapping[CellKey, CellSum]


@dataclass(frozen=True, slots=True)
class Standing:
    """One measure of one cell on one version, beside what was promised of it.

    `unit` is what a predicted unit comes to in the measure's own: milliseconds a TEU for work, 1
    for what is predicted as it is observed. `low` and `high` are the ratios between which the
    middle nine tenths lie.
    """

    key: CellKey
    found: CellCalibration
    promise: Promise
    unit: float
    predicted: float
    observed: float
    low: float
    high: float

    @property
    def gravity(self) -> int:
        return GRAVITY.index(self.found.verdict)


def standings(
    lines: Lines, before: Lines, refused: Mapping[Cell, Mapping[str, int]]
) -> list[Standing]:
    """Every cell judged, the worst first.

    An estimate's interval is that of the requests `before`, which the judged ones are no part of.
    Where those are too few it is that of the other cells' requests, and where they are too few as
    well, of all: then only a cell that stands out among its neighbours can be found wrong.
    """
    past = {measure: _pooled(before, measure) for measure in Measure}
    now = {measure: _pooled(lines, measure) for measure in Measure}
    found = [
        _standing(key, one, _scale(key, one, past, now), refused.get(key.cell, {}))
        for key, one in lines.items()
    ]
    return sorted(found, key=lambda row: (row.gravity, -abs(row.found.bias), row.key))


def cells_to_propose(rows: Iterable[Standing], demand: Demand) -> list[dict[str, Any]]:
    """`demand.cells` for what the priced measures found wrong: the harshest verdict of a cell."""
    worst: dict[Cell, CellCalibration] = {}
    for row in rows:
        if row.key.measure not in PRICED:
            continue
        if row.found.verdict not in (Calibration.PAD, Calibration.DISABLE):
            continue
        known = worst.get(row.key.cell)
        if known is None or _harm(row.found) > _harm(known):
            worst[row.key.cell] = row.found
    pads = {cell: pad_in_force(demand, cell) for cell in worst}
    return cells_fragment([worst[cell] for cell in sorted(worst)], pads)


@dataclass(frozen=True, slots=True)
class _Scale:
    """What one measure of one cell is held to: its unit, and the nominal interval."""

    unit: float
    low: float | None
    high: float | None


_Pooled = Mapping[Measure, Mapping[int, int]]


def _pooled(lines: Lines, measure: Measure) -> Mapping[int, int]:
    return merged(one.ratios for key, one in lines.items() if key.measure is measure)


def _scale(key: CellKey, own: CellSum, past: _Pooled, now: _Pooled) -> _Scale:
    if key.measure.is_bound:
        return _Scale(1.0, 0.0, 1.0)
    whole = now[key.measure]
    others = {bucket: count - own.ratios.get(bucket, 0) for bucket, count in whole.items()}
    needed = needed_for(NOMINAL)
    some = next((s for s in (past[key.measure], others) if sum(s.values()) >= needed), whole)
    unit = SummedRatios(some).median if key.measure is Measure.WORK else 1.0
    interval = ratio_interval(SummedRatios(some, unit), NOMINAL)
    return _Scale(unit, interval.low, interval.high)


def _standing(key: CellKey, one: CellSum, scale: _Scale, refused: Mapping[str, int]) -> Standing:
    ratios = SummedRatios(one.ratios, scale.unit)
    nominal = one.promised / one.n if key.measure.is_bound else NOMINAL
    promise = Promise(nominal, scale.low, scale.high)
    return Standing(
        key=key,
        found=judge_cell(key.cell, ratios, promise, refused),
        promise=promise,
        unit=scale.unit,
        predicted=one.predicted / one.n,
        observed=one.observed / one.n / scale.unit,
        low=ratios.nth(max(1, round(0.05 * one.n))),
        high=ratios.nth(max(1, round(0.95 * one.n))),
    )


def _harm(found: CellCalibration) -> tuple[bool, float]:
    return found.verdict is Calibration.DISABLE, found.pad or 0.0
