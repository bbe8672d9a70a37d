"""Whether the nominal interval holds in each shape cell, and what to do where it doesn't.

Two-sided: a cell whose interval covers less than it says is padded or disabled, and a cell that is
steadily over-priced is a finding too, because its tenants are refused for work that they would not
have made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from orchid.engine.binomial import clopper_pearson, lower_bound
from orchid.engine.calibration.conformal import needed_for, upper_ratio
from orchid.engine.calibration.predictor import Predictor, ratios_of
from orchid.engine.calibration.ratios import GivenRatios, Ratios
from orchid.engine.calibration.samples import (
    AttemptSample,
    Buckets,
    Cell,
    RefusedShape,
    rows_by_cell,
)
from orchid.engine.document.values import percent

#: Chance that the bounds of an observed coverage don't hold it.
ALPHA = 0.05
#: A pad above this would make a price that means nothing: the cell is disabled instead.
LARGEST_PAD = 2.0
#: A median so far under the price is steady over-prediction where a sign test confirms it.
OVER_PRICED = 0.10


class Calibration(StrEnum):
    CALIBRATED = "calibrated"
    PAD = "pad"
    DISABLE = "disable"
    OVER_PREDICTS = "over_predicts"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True)
class CellCalibration:
    """One cell against the nominal interval.

    `coverage` is the observed share inside it with its exact bounds; `bias` is the median of
    measured over predicted, less 1; `mean_error` the mean of |measured / predicted - 1|. `pad`
    restores the upper side, `tenants` counts who was refused under a price that is too high.
    """

    cell: Cell
    n: int
    bias: float
    mean_error: float
    coverage: float
    lower: float
    upper: float
    verdict: Calibration
    pad: float | None = None
    tenants: Mapping[str, int] = field(default_factory=dict)
    text: str = ""


def calibrate(
    samples: Sequence[AttemptSample],
    predictor: Predictor,
    buckets: Buckets,
    *,
    nominal: float = 0.95,
    refused: Sequence[RefusedShape] = (),
) -> list[CellCalibration]:
    """Judge every cell of the samples, which the predictor must not have been made from."""
    ratios = ratios_of(samples, predictor, buckets)
    judged = []
    for cell, rows in rows_by_cell(samples, buckets).items():
        own = ratios[rows]
        own = own[np.isfinite(own)]
        if len(own):
            tenants = _tenants(cell, refused, buckets)
            promise = Promise(nominal, predictor.low, predictor.high)
            judged.append(judge_cell(cell, GivenRatios(own), promise, tenants))
    return judged


@dataclass(frozen=True, slots=True)
class Promise:
    """What a prediction says of itself: measured over predicted lies between the ends.

    With the nominal chance; an end that is None can't be stated yet. A prediction that is only
    ever an upper bound has the lower end 0.
    """

    nominal: float
    low: float | None
    high: float | None

    @property
    def is_bound(self) -> bool:
        return self.low == 0

    @property
    def upper_share(self) -> float:
        """The share that is to stay under the upper end."""
        return self.nominal if self.is_bound else (1 + self.nominal) / 2


def judge_cell(
    cell: Cell, ratios: Ratios, promise: Promise, tenants: Mapping[str, int] | None = None
) -> CellCalibration:
    """One cell, of which there is at least one ratio; `tenants` are those refused meanwhile."""
    found = _measured(cell, ratios, promise)
    if promise.low is None or promise.high is None:
        return replace(found, text="the prediction rests on too few attempts to have an interval")
    verdict = _verdict(ratios, promise.low, promise.high, found.upper, promise)
    if verdict is Calibration.PAD:
        return _padded(found, ratios, promise.high, promise)
    kept = dict(tenants or {}) if verdict is Calibration.OVER_PREDICTS else {}
    text = _text(verdict, ratios, promise, kept)
    return replace(found, verdict=verdict, tenants=kept, text=text)


def _measured(cell: Cell, ratios: Ratios, promise: Promise) -> CellCalibration:
    """The cell's figures, without a verdict yet."""
    n, low, high = ratios.n, promise.low, promise.high
    known = low is not None and high is not None
    inside = n - ratios.below(low or 0.0) - ratios.above(high or 0.0) if known else 0
    lower, upper = clopper_pearson(inside, n, ALPHA)
    bias, error = ratios.median - 1, ratios.mean_error
    return CellCalibration(cell, n, bias, error, inside / n, lower, upper, Calibration.TOO_FEW)


def _verdict(
    ratios: Ratios, low: float, high: float, upper: float, promise: Promise
) -> Calibration:
    if upper < promise.nominal:
        over = ratios.below(low) > ratios.above(high)
        return Calibration.OVER_PREDICTS if over else Calibration.PAD
    if ratios.n < needed_for(promise.nominal):
        return Calibration.TOO_FEW
    return Calibration.OVER_PREDICTS if _is_over(ratios, promise) else Calibration.CALIBRATED


def _is_over(ratios: Ratios, promise: Promise) -> bool:
    """An estimate whose middle is steadily too high, or a bound that is far from ever reached."""
    if promise.is_bound:
        reached = upper_ratio(ratios, promise.nominal)
        return reached is not None and reached <= 1 - OVER_PRICED
    steadily = lower_bound(ratios.below(1), ratios.n, ALPHA) > 0.5
    return steadily and ratios.median <= 1 - OVER_PRICED


def _padded(
    found: CellCalibration, ratios: Ratios, high: float, promise: Promise
) -> CellCalibration:
    """The pad under which the next attempt keeps the upper end with its nominal chance."""
    reached = upper_ratio(ratios, promise.upper_share)
    needed = None if reached is None else reached / high
    covered = f"covers {percent(found.coverage, 1)} where {percent(promise.nominal)} is promised"
    if needed is None or needed > LARGEST_PAD:
        what = "too few attempts to say what pad" if needed is None else f"a pad of {needed:.2f}"
        text = f"{covered}; {what} would restore it"
        return replace(found, verdict=Calibration.DISABLE, text=text)
    pad = max(needed, 1.0)
    text = f"{covered}; estimates times {pad:.3f} restore it"
    return replace(found, verdict=Calibration.PAD, pad=pad, text=text)


def _text(
    verdict: Calibration, ratios: Ratios, promise: Promise, tenants: Mapping[str, int]
) -> str:
    if verdict is Calibration.TOO_FEW:
        return f"{ratios.n} attempts of the {needed_for(promise.nominal)} that a verdict needs"
    if verdict is not Calibration.OVER_PREDICTS:
        return ""
    who = ", ".join(f"{name} ({count})" for name, count in tenants.items())
    part, middle = "half", ratios.median
    if promise.is_bound:
        part, middle = percent(promise.nominal), upper_ratio(ratios, promise.nominal) or middle
    said = f"{part} of the attempts take less than {middle:.2f} of what was predicted"
    return f"{said}; refused meanwhile: {who or 'nobody'}"


def _tenants(cell: Cell, refused: Sequence[RefusedShape], buckets: Buckets) -> dict[str, int]:
    """Refusals of the cell by tenant, most refused first."""
    found: dict[str, int] = {}
    for shape in refused:
        if buckets.cell(shape.route, shape.input_tokens, shape.max_output_tokens) == cell:
            found[shape.tenant] = found.get(shape.tenant, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class VersionError:
    """Prediction error of one cell under one version of model, runtime and hardware."""

    cell: Cell
    version: str
    n: int
    bias: float
    mean_error: float


def errors_by_version(
    samples: Sequence[AttemptSample], predictor: Predictor, buckets: Buckets
) -> list[VersionError]:
    """The error where each cell was measured, version by version."""
    groups: dict[tuple[Cell, str], list[float]] = {}
    for sample, ratio in zip(samples, ratios_of(samples, predictor, buckets), strict=True):
        if np.isfinite(ratio):
            groups.setdefault((buckets.of(sample), sample.version), []).append(float(ratio))
    return [
        VersionError(cell, version, own.n, own.median - 1, own.mean_error)
        for (cell, version), own in (
            (key, GivenRatios(np.array(found))) for key, found in sorted(groups.items())
        )
    ]
