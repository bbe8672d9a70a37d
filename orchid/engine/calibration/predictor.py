"""A demand model as a prediction of accelerator milliseconds, with its nominal interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from orchid.engine.calibration.conformal import ratio_interval
from orchid.engine.calibration.ratios import GivenRatios
from orchid.engine.calibration.samples import AttemptSample, Buckets, Cell
from orchid.engine.document.demand import Demand
from orchid.engine.pricing import pad_of


@dataclass(frozen=True, slots=True)
class Predictor:
    """TEU of an attempt's observed tokens times the milliseconds of one TEU.

    `low` and `high` are the ends of the nominal interval as ratios of measured to predicted, the
    same for every cell; None where too few attempts were seen to state one. `pads` multiply the
    estimates of single cells, None disables one.
    """

    factors: Mapping[str, float]
    input_weight: float
    ms_per_teu: float
    low: float | None
    high: float | None
    pads: Mapping[Cell, float | None] = field(default_factory=dict)

    def predict_ms(self, sample: AttemptSample, cell: Cell | None = None) -> float | None:
        """Predicted milliseconds; None for a route without a factor and for a disabled cell."""
        factor = self.factors.get(sample.route)
        pad = self.pads.get(cell, 1.0) if cell is not None else 1.0
        if factor is None or pad is None:
            return None
        work = self.input_weight * sample.uncached_tokens + sample.output_tokens
        return factor * work * self.ms_per_teu * pad


def ratios_of(
    samples: Sequence[AttemptSample], predictor: Predictor, buckets: Buckets | None = None
) -> NDArray[np.float64]:
    """Measured over predicted of each sample; not a number where nothing is predicted."""
    predicted = np.array(
        [
            predictor.predict_ms(sample, buckets.of(sample) if buckets else None) or np.nan
            for sample in samples
        ],
        dtype=np.float64,
    )
    return np.array([sample.accelerator_ms for sample in samples]) / predicted


def predictor_of(
    demand: Demand,
    samples: Sequence[AttemptSample],
    buckets: Buckets,
    *,
    nominal: float = 0.95,
) -> Predictor:
    """A document's demand model, its milliseconds of a TEU and its interval taken from samples.

    A document prices in relative units, so only how cells stand to one another can be right or
    wrong. Raises ValueError where no sample has a price.
    """
    cells = {buckets.of(sample) for sample in samples}
    pads = {cell: _pad(demand, cell) for cell in cells}
    factors = {route: float(factor) for route, factor in demand.model_factor.items()}
    unit = Predictor(factors, float(demand.input_weight), 1.0, None, None, pads)
    ratios = ratios_of(samples, unit, buckets)
    ratios = ratios[np.isfinite(ratios)]
    if not len(ratios):
        raise ValueError(f"no measured attempt is of a route that demand {demand.version} prices")
    middle = float(np.median(ratios))
    spread = ratio_interval(GivenRatios(ratios / middle), nominal)
    return Predictor(factors, float(demand.input_weight), middle, spread.low, spread.high, pads)


def _pad(demand: Demand, cell: Cell) -> float | None:
    pad = pad_of(demand, cell.route, cell.input_bucket, cell.output_bucket)
    return None if pad is None else float(pad)
