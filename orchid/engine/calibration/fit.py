"""Fit of the demand model's factors from measured attempts, with what the data can't tell said."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from orchid.engine.calibration.conformal import RatioInterval, ratio_interval
from orchid.engine.calibration.predictor import Predictor, ratios_of
from orchid.engine.calibration.ratios import GivenRatios
from orchid.engine.calibration.samples import AttemptSample, Buckets, Cell, rows_by_cell
from orchid.engine.calibration.solve import (
    CAUCHY,
    Floats,
    Solution,
    Table,
    covariance,
    log_interval,
    solve,
    vaguest,
    weakest,
)

#: Attempts below which a route's factor is not fitted.
LEAST_ATTEMPTS = 20
#: Least singular value over the largest at which parameters count as told apart.
LEAST_APART = 0.02


class NotIdentifiableError(ValueError):
    """The attempts can't tell the factors apart; the text says which and what would."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted figure with its interval at the nominal level."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DemandFit:
    """The demand model that the attempts speak for.

    Factors are relative to the reference route, of which one TEU is `ms_per_teu` accelerator
    milliseconds. `fixed_ms` is work that no token explains and TEU has no term for: cells of short
    requests are under-priced by it, which calibration shows. `spread` is the interval of measured
    over predicted on attempts that the prediction has not seen, whole and by cell.
    """

    reference: str
    nominal: float
    input_weight: Estimate
    factors: Mapping[str, Estimate]
    ms_per_teu: Estimate
    fixed_ms: Mapping[str, float]
    attempts: Mapping[str, int]
    versions: Mapping[str, tuple[str, ...]]
    outliers: int
    sigma: float
    spread: RatioInterval
    cells: Mapping[Cell, RatioInterval]
    not_fitted: Mapping[str, str] = field(default_factory=dict)
    """Routes of which the attempts say too little, with the reason."""

    @property
    def n(self) -> int:
        return sum(self.attempts.values())

    def predictor(self) -> Predictor:
        """The model as something that predicts, with its nominal interval over all cells."""
        return Predictor(
            {route: factor.value for route, factor in self.factors.items()},
            self.input_weight.value,
            self.ms_per_teu.value,
            self.spread.low,
            self.spread.high,
        )


def fit_demand(
    samples: Sequence[AttemptSample],
    reference_route: str,
    *,
    nominal: float = 0.95,
    buckets: Buckets | None = None,
) -> DemandFit:
    """Fit, or raise NotIdentifiableError where the reference route itself can't be told.

    Samples are in the order of time; attempts with no token or no time are not among them.
    """
    usable, not_fitted = _usable(samples, reference_route)
    solution, table, fitted = _solved(usable, reference_route, not_fitted)
    ratios = _unseen_ratios(fitted, table, reference_route)
    cells = rows_by_cell(fitted, buckets or Buckets())
    found = _estimates(solution, table, reference_route, nominal)
    return DemandFit(
        reference=reference_route,
        nominal=nominal,
        input_weight=found.input_weight,
        factors=found.factors,
        ms_per_teu=found.ms_per_teu,
        fixed_ms=dict(zip(table.routes, map(float, solution.fixed_ms), strict=True)),
        attempts={r: sum(s.route == r for s in fitted) for r in table.routes},
        versions=_versions(fitted),
        outliers=int((np.abs(solution.residual) > 2 * CAUCHY * solution.sigma).sum()),
        sigma=solution.sigma,
        spread=ratio_interval(GivenRatios(ratios), nominal),
        cells={
            cell: ratio_interval(GivenRatios(ratios[rows]), nominal) for cell, rows in cells.items()
        },
        not_fitted=not_fitted,
    )


def _usable(
    samples: Sequence[AttemptSample], reference: str
) -> tuple[list[AttemptSample], dict[str, str]]:
    """The samples of routes that can be fitted at all, and why the others can't."""
    why = {
        route: reason
        for route in sorted({sample.route for sample in samples} | {reference})
        if (reason := _degenerate([s for s in samples if s.route == route]))
    }
    if reference in why:
        raise NotIdentifiableError(f"the reference route {reference}: {why[reference]}")
    return [sample for sample in samples if sample.route not in why], why


def _degenerate(samples: Sequence[AttemptSample]) -> str | None:
    if len(samples) < LEAST_ATTEMPTS:
        return f"{len(samples)} measured attempts of the {LEAST_ATTEMPTS} that a fit needs"
    shapes = {(sample.uncached_tokens, sample.output_tokens) for sample in samples}
    if len(shapes) < 2:
        (uncached, output) = next(iter(shapes))
        return (
            f"all attempts read {uncached} tokens and write {output}:"
            " the work of a token can't be told from a fixed part"
        )
    return None


def _solved(
    samples: list[AttemptSample], reference: str, not_fitted: dict[str, str]
) -> tuple[Solution, Table, list[AttemptSample]]:
    """Solve, leaving out one by one the routes whose parameters the data don't tell apart."""
    while True:
        table = table_of(samples)
        solution = solve(table)
        apart, parameter = weakest(solution)
        if apart >= LEAST_APART:
            vague = vaguest(solution, table.routes.index(reference))
            if vague is None:
                return solution, table, samples
            parameter = vague
        route = _route_of(parameter, table)
        if route in (None, reference):
            raise NotIdentifiableError(
                f"input and output lengths of {reference} move together or hardly at all, or its"
                " times hardly follow them, so the work of reading can't be told from that of"
                " writing: measure more shapes"
            )
        not_fitted[route or ""] = (
            "its lengths vary too little, or its times hardly follow them, to tell a token from a"
            " fixed part"
        )
        samples = [sample for sample in samples if sample.route != route]


def _route_of(parameter: int, table: Table) -> str | None:
    """Whose parameter it is; None for the shared input weight."""
    return table.routes[(parameter - 1) % len(table.routes)] if parameter else None


def table_of(samples: Sequence[AttemptSample]) -> Table:
    """The samples as columns."""
    routes = tuple(sorted({sample.route for sample in samples}))
    index = {route: i for i, route in enumerate(routes)}
    return Table(
        routes,
        np.array([index[sample.route] for sample in samples], dtype=np.intp),
        np.array([sample.uncached_tokens for sample in samples], dtype=np.float64),
        np.array([sample.output_tokens for sample in samples], dtype=np.float64),
        np.log(np.array([sample.accelerator_ms for sample in samples], dtype=np.float64)),
    )


@dataclass(frozen=True, slots=True)
class _Estimates:
    input_weight: Estimate
    factors: dict[str, Estimate]
    ms_per_teu: Estimate


def _estimates(solution: Solution, table: Table, reference: str, level: float) -> _Estimates:
    """Every fitted figure with its interval; the reference's factor is 1 by definition."""
    spread, freedom = covariance(solution), len(table.log_ms) - len(solution.theta)
    logs = solution.theta[1 : 1 + len(table.routes)]
    base = 1 + table.routes.index(reference)

    def estimate(value: float, variance: float) -> Estimate:
        return Estimate(float(np.exp(value)), *log_interval(value, variance, freedom, level))

    factors = {}
    for i, route in enumerate(table.routes, start=1):
        variance = spread[i, i] + spread[base, base] - 2 * spread[i, base]
        factors[route] = estimate(logs[i - 1] - logs[base - 1], variance)
    weight = estimate(solution.theta[0], spread[0, 0])
    return _Estimates(weight, factors, estimate(logs[base - 1], spread[base, base]))


def _unseen_ratios(samples: Sequence[AttemptSample], table: Table, reference: str) -> Floats:
    """Measured over predicted, each half predicted by a fit on the other.

    Cross-conformal prediction (Vovk 2015, Ann. Math. Artif. Intell. 74). Halves
    alternate within a route, so both have every route and every stretch of time.
    """
    turn: dict[str, int] = {}
    half = np.zeros(len(samples), dtype=bool)
    for i, sample in enumerate(samples):
        turn[sample.route] = turn.get(sample.route, 0) + 1
        half[i] = turn[sample.route] % 2
    ratios = np.empty(len(samples))
    for seen in (half, ~half):
        predictor = _plain_predictor(solve(table.take(seen)), table, reference)
        unseen = [sample for sample, known in zip(samples, seen, strict=True) if not known]
        ratios[~seen] = ratios_of(unseen, predictor)
    return ratios


def _plain_predictor(solution: Solution, table: Table, reference: str) -> Predictor:
    slopes = solution.slopes
    base = float(slopes[table.routes.index(reference)])
    factors = {route: float(b) / base for route, b in zip(table.routes, slopes, strict=True)}
    return Predictor(factors, solution.input_weight, base, None, None)


def _versions(samples: Iterable[AttemptSample]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for sample in samples:
        found.setdefault(sample.route, set()).add(sample.version)
    return {route: tuple(sorted(names)) for route, names in sorted(found.items())}
