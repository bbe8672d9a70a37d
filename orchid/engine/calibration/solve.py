"""The robust least squares under the fit: log accelerator ms on lengths, routes side by side.

Work of attempt i on route r is  a_r + b_r (w x_i + z_i)  with x uncached input and z output tokens:
one input weight w for all routes, a slope b_r and a fixed part a_r >= 0 for each. Residuals are
logarithms of ratios, as errors of times grow with the times. A soft-L1 pass finds the scale of the
errors (MAD), a Cauchy pass with the tuning constant 2.385 for 95 % efficiency (Holland and Welsch
1977, Comm. Statist. A6) then gives gross outliers next to no weight; `scipy.optimize.least_squares`
solves both. Intervals are from the sandwich covariance of M-estimators (Huber 1981, ch. 7).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
CAUCHY = 2.385
PASSES: tuple[tuple[Literal["soft_l1", "cauchy"], float], ...] = (
    ("soft_l1", 1.0),
    ("cauchy", CAUCHY),
)
MAD_TO_SIGMA = 1.4826
MOST_STEPS = 200  # far more than sound data take; hopeless data would go on for long
ROUNDING = 1e-9
#: Variance of a logarithm at which a 95 % interval reaches from a tenth to ten times the figure.
VAGUE_LOG_VARIANCE = (float(np.log(10)) / 1.96) ** 2
LEAST_SIGMA = 1e-6  # exact data have no scale of their own
START_WEIGHT = 0.25
WEIGHT_LOG_BOUNDS = (float(np.log(1e-6)), float(np.log(1e3)))


@dataclass(frozen=True)
class Table:
    """Attempts as columns; `route` indexes `routes`."""

    routes: tuple[str, ...]
    route: NDArray[np.intp]
    uncached: Floats
    output: Floats
    log_ms: Floats

    def take(self, rows: NDArray[Any]) -> "Table":
        return Table(
            self.routes, self.route[rows], self.uncached[rows], self.output[rows], self.log_ms[rows]
        )


@dataclass(frozen=True)
class Solution:
    """Parameters in the order log w, log b of each route, a of each route (in units of `unit`)."""

    theta: Floats
    unit: Floats
    jacobian: Floats
    residual: Floats
    sigma: float

    @property
    def input_weight(self) -> float:
        return float(np.exp(self.theta[0]))

    @property
    def weight_at_a_bound(self) -> bool:
        """The best weight is none at all, or beyond any that was ever measured."""
        low, high = WEIGHT_LOG_BOUNDS
        return not low + 1e-3 < self.theta[0] < high - 1e-3

    @property
    def slopes(self) -> Floats:
        return np.exp(self.theta[1 : 1 + len(self.unit)])

    @property
    def fixed_ms(self) -> Floats:
        return self.theta[1 + len(self.unit) :] * self.unit


def solve(table: Table) -> Solution:
    """Both passes. The table has at least two shapes of every route."""
    from scipy.optimize import least_squares  # half a second of import, for whoever fits

    count = len(table.routes)
    work = START_WEIGHT * table.uncached + table.output
    log_slope = np.array([_median_of(table, work, route) for route in range(count)])
    unit = np.array([np.exp(np.median(table.log_ms[table.route == r])) for r in range(count)])
    theta = np.concatenate([[np.log(START_WEIGHT)], log_slope, np.full(count, 0.01)])
    low = np.concatenate([[WEIGHT_LOG_BOUNDS[0]], np.full(count, -50.0), np.zeros(count)])
    high = np.concatenate([[WEIGHT_LOG_BOUNDS[1]], np.full(count, 50.0), np.ones(count)])
    sigma = 0.1
    for loss, tuning in PASSES:
        found = least_squares(
            _residual,
            theta,
            jac=_jacobian,
            args=(table, unit),
            bounds=(low, high),
            loss=loss,
            f_scale=tuning * sigma,
            x_scale="jac",
            max_nfev=MOST_STEPS,
        )
        theta, residual = found.x, _residual(found.x, table, unit)
        sigma = max(MAD_TO_SIGMA * float(np.median(np.abs(residual))), LEAST_SIGMA)
    return Solution(theta, unit, _jacobian(theta, table, unit), residual, sigma)


def _median_of(table: Table, work: Floats, route: int) -> float:
    mine = table.route == route
    return float(np.median(table.log_ms[mine] - np.log(np.maximum(work[mine], 1.0))))


def _parts(theta: Floats, table: Table, unit: Floats) -> tuple[Floats, Floats, Floats]:
    """Input part, output part and whole of the predicted milliseconds."""
    count = len(unit)
    slope = np.exp(theta[1 : 1 + count])[table.route]
    reading = slope * np.exp(theta[0]) * table.uncached
    writing = slope * table.output
    return reading, writing, reading + writing + (theta[1 + count :] * unit)[table.route]


def _residual(theta: Floats, table: Table, unit: Floats) -> Floats:
    whole = _parts(theta, table, unit)[2]
    return np.log(np.maximum(whole, 1e-12)) - table.log_ms


def _jacobian(theta: Floats, table: Table, unit: Floats) -> Floats:
    reading, writing, whole = _parts(theta, table, unit)
    whole = np.maximum(whole, 1e-12)
    count, rows = len(unit), np.arange(len(whole))
    jacobian = np.zeros((len(whole), 1 + 2 * count))
    jacobian[:, 0] = reading / whole
    jacobian[rows, 1 + table.route] = (reading + writing) / whole
    jacobian[rows, 1 + count + table.route] = unit[table.route] / whole
    return jacobian


def weakest(solution: Solution) -> tuple[float, int]:
    """How far the data tell the parameters apart, and the parameter that they tell least.

    The smallest singular value of the Jacobian with unit columns over the largest: 1 is fully
    apart, 0 is not at all.
    """
    norms = np.linalg.norm(solution.jacobian, axis=0)
    if not norms.all():
        return 0.0, int(np.argmin(norms))
    _, values, rows = np.linalg.svd(solution.jacobian / norms, full_matrices=False)
    return float(values[-1] / values[0]), int(np.argmax(np.abs(rows[-1])))


def vaguest(solution: Solution, reference: int) -> int | None:
    """The parameter whose 95 % interval is too wide to be a figure at all; None where none is.

    The shared weight first, then the slope of the reference route (an index), then the others'
    slopes against it.
    """
    if solution.weight_at_a_bound:
        return 0
    spread, base = covariance(solution), 1 + reference
    variances = {0: spread[0, 0], base: spread[base, base]}
    for i in range(1, 1 + len(solution.unit)):
        if i != base:
            variances[i] = spread[i, i] + spread[base, base] - 2 * spread[i, base]
    return next((i for i, v in variances.items() if not -ROUNDING <= v <= VAGUE_LOG_VARIANCE), None)


def covariance(solution: Solution) -> Floats:
    """Sandwich covariance; a fixed part that lies on zero is taken as known."""
    free = np.concatenate(
        [np.ones(1 + len(solution.unit), bool), solution.theta[1 + len(solution.unit) :] > 1e-9]
    )
    jacobian, scale = solution.jacobian[:, free], CAUCHY * solution.sigma
    squared = (solution.residual / scale) ** 2
    influence = solution.residual / (1 + squared)
    bread = np.mean((1 - squared) / (1 + squared) ** 2) * jacobian.T @ jacobian
    meat = (jacobian * influence[:, None] ** 2).T @ jacobian
    inverse = np.linalg.pinv(bread)
    n, p = jacobian.shape
    whole = np.zeros((len(free), len(free)))
    whole[np.ix_(free, free)] = inverse @ meat @ inverse * (n / max(n - p, 1))
    return whole


def log_interval(
    log_value: float, variance: float, freedom: int, level: float
) -> tuple[float, float]:
    """Two-sided Student interval of a logarithm, back on its own scale."""
    reach = float(special.stdtrit(max(freedom, 1), (1 + level) / 2)) * float(
        np.sqrt(max(variance, 0.0))
    )
    return float(np.exp(log_value - reach)), float(np.exp(log_value + reach))
