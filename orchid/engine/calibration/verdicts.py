"""Whether the nominal interval holds in each shape cell, and what to do where it doesn't.

Two-sided: a cell whose interval covers less than it says is padded or disabled, and a cell that is
steadily over-priced is a finding too, because its tenants are refused for work that they would not
have made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from orchid.engine.binomial import clopper_pearson, lower_bound
from orchid.engine.calibration.conformal import needed_for, upper_ratio
from orchid.engine.calibration.predictor import Predictor, ratios_of
from orchid.engine.calibration.samples import (
    AttemptSample,
    Buckets,
    Cell,
    RefusedShape,
    rows_by_cell,
)

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
            judged.append(_judged(cell, own, predictor, nominal, _tenants(cell, refused, buckets)))
    return judged


def _judged(
    cell: Cell,
    ratios: NDArray[np.float64],
    predictor: Predictor,
    nominal: float,
    tenants: dict[str, int],
) -> CellCalibration:
    low, high = predictor.low, predictor.high
    found = _measured(cell, ratios, low, high)
    if low is None or high is None:
        return replace(found, text="the prediction rests on too few attempts to have an interval")
    verdict = _verdict(ratios, low, high, found.upper, nominal)
    if verdict is Calibration.PAD:
        return _padded(found, ratios, high, nominal)
    kept = tenants if verdict is Calibration.OVER_PREDICTS else {}
    text = _text(verdict, ratios, nominal, kept)
    return replace(found, verdict=verdict, tenants=kept, text=text)


def _measured(
    cell: Cell, ratios: NDArray[np.float64], low: float | None, high: float | None
) -> CellCalibration:
    """The cell's figures, without a verdict yet."""
    n = len(ratios)
    inside = 0 if low is None or high is None else int(((ratios >= low) & (ratios <= high)).sum())
    lower, upper = clopper_pearson(inside, n, ALPHA)
    bias, mean_error = _errors(ratios)
    return CellCalibration(cell, n, bias, mean_error, inside / n, lower, upper, Calibration.TOO_FEW)


def _errors(ratios: NDArray[np.float64]) -> tuple[float, float]:
    """Median of measured over predicted, less 1; and the mean distance from 1."""
    return float(np.median(ratios)) - 1, float(np.mean(np.abs(ratios - 1)))


def _verdict(
    ratios: NDArray[np.float64], low: float, high: float, upper: float, nominal: float
) -> Calibration:
    if upper < nominal:
        over = int((ratios < low).sum()) > int((ratios > high).sum())
        return Calibration.OVER_PREDICTS if over else Calibration.PAD
    if len(ratios) < needed_for(nominal):
        return Calibration.TOO_FEW
    steadily = lower_bound(int((ratios < 1).sum()), len(ratios), ALPHA) > 0.5
    if steadily and float(np.median(ratios)) <= 1 - OVER_PRICED:
        return Calibration.OVER_PREDICTS
    return Calibration.CALIBRATED


def _padded(
    found: CellCalibration, ratios: NDArray[np.float64], high: float, nominal: float
) -> CellCalibration:
    """The pad under which the next attempt keeps the upper end with its nominal chance."""
    needed = upper_ratio(ratios / high, (1 + nominal) / 2)
    covered = f"covers {found.coverage:.1%} where {nominal:.0%} is promised"
    if needed is None or needed > LARGEST_PAD:
        what = "too few attempts to say what pad" if needed is None else f"a pad of {needed:.2f}"
        text = f"{covered}; {what} would restore it"
        return replace(found, verdict=Calibration.DISABLE, text=text)
    pad = max(needed, 1.0)
    text = f"{covered}; estimates times {pad:.3f} restore it"
    return replace(found, verdict=Calibration.PAD, pad=pad, text=text)


def _text(
    verdict: Calibration,
    ratios: NDArray[np.float64],
    nominal: float,
    tenants: dict[str, int],
) -> str:
    if verdict is Calibration.TOO_FEW:
        return f"{len(ratios)} attempts of the {needed_for(nominal)} that a verdict needs"
    if verdict is not Calibration.OVER_PREDICTS:
        return ""
    who = ", ".join(f"{name} ({count})" for name, count in tenants.items())
    said = f"half of the attempts take less than {float(np.median(ratios)):.2f} of their price"
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
        VersionError(cell, version, len(own), *_errors(np.array(own)))
        for (cell, version), own in sorted(groups.items())
    ]
