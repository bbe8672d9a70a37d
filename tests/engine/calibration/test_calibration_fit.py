"""Fit of the demand model: known factors come back, and what can't be known is said."""

from dataclasses import replace

import numpy as np
import pytest

from orchid.engine.binomial import clopper_pearson
from orchid.engine.calibration.conformal import needed_for, ratio_interval, upper_ratio
from orchid.engine.calibration.fit import DemandFit, NotIdentifiableError, fit_demand
from orchid.engine.calibration.predictor import ratios_of
from orchid.engine.calibration.ratios import GivenRatios
from orchid.engine.calibration.samples import AttemptSample, Buckets, Cell
from tests.engine.calibration.measured_attempts import FACTORS, FIXED_MS, MS_PER_TEU, WEIGHT, World


@pytest.fixture(scope="module")
def fitted() -> DemandFit:
    return fit_demand(World().attempts(4000, seed=1), "full")


def test_known_factors_come_back_through_noise_and_gross_outliers(fitted: DemandFit) -> None:
    assert fitted.factors["full"].value == 1
    for route, factor in FACTORS.items():
        assert fitted.factors[route].value == pytest.approx(factor, rel=0.02)
        assert fitted.fixed_ms[route] == pytest.approx(FIXED_MS[route], rel=0.2)
    assert fitted.input_weight.value == pytest.approx(WEIGHT, rel=0.02)
    assert fitted.ms_per_teu.value == pytest.approx(MS_PER_TEU, rel=0.02)
    assert fitted.outliers == pytest.approx(400, abs=80)
    assert fitted.sigma == pytest.approx(0.05, rel=0.2)


def test_exact_data_come_back_exactly() -> None:
    found = fit_demand(World(noise=0, gross=0).attempts(300, seed=2), "full")
    assert found.factors["compact"].value == pytest.approx(0.3, rel=1e-4)
    assert found.input_weight.value == pytest.approx(WEIGHT, rel=1e-4)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 60 fits on 400 attempts each, 95 % intervals of three figures: at least 51 each."""
    held = {"weight": 0, "compact": 0, "ms": 0}
    for seed in range(60):
        found = fit_demand(World().attempts(400, seed=1000 + seed), "full")
        compact = found.factors["compact"]
        held["weight"] += found.input_weight.low <= WEIGHT <= found.input_weight.high
        held["compact"] += compact.low <= 0.3 <= compact.high
        held["ms"] += found.ms_per_teu.low <= MS_PER_TEU <= found.ms_per_teu.high
    assert min(held.values()) >= 51  # P(fewer of 60 at 95 %) is below 0.1 %


def test_the_prediction_interval_covers_fresh_attempts_as_it_says(fitted: DemandFit) -> None:
    fresh = World().attempts(4000, seed=3)
    ratios = ratios_of(fresh, fitted.predictor())
    low, high = fitted.spread.low, fitted.spread.high
    assert low is not None
    assert high is not None
    inside = int(((ratios >= low) & (ratios <= high)).sum())
    least, most = clopper_pearson(inside, len(fresh), 0.001)
    assert least <= 0.96
    assert most >= 0.94


def test_each_cell_has_its_own_interval_or_too_few(fitted: DemandFit) -> None:
    fresh, cells = World().attempts(12_000, seed=4), fitted.cells
    ratios = ratios_of(fresh, fitted.predictor())
    own = [Buckets().of(sample) for sample in fresh]
    judged = 0
    for cell, spread in cells.items():
        assert spread.too_few == (spread.n < 39)
        mine = ratios[[other == cell for other in own]]
        if spread.low is None or spread.high is None or len(mine) < 200:
            continue
        judged += 1
        inside = int(((mine >= spread.low) & (mine <= spread.high)).sum())
        # The chance of a cell's own interval varies with its order statistics (a beta law).
        assert clopper_pearson(inside, len(mine), 0.001)[1] >= 0.91
    assert judged >= 6
    assert any(spread.too_few for spread in cells.values())


def test_cached_tokens_are_no_work() -> None:
    plain = World(gross=0).attempts(600, seed=5)
    unread = [replace(sample, cached_tokens=0) for sample in plain]
    assert fit_demand(plain, "full").input_weight.value == pytest.approx(WEIGHT, rel=0.05)
    assert fit_demand(unread, "full").input_weight.value < WEIGHT * 0.95


def same(route: str, n: int, tokens: int = 500, output: int = 50) -> list[AttemptSample]:
    return [AttemptSample(route, tokens, 0, output, 60.0 + i % 7) for i in range(n)]


def test_equal_lengths_tell_nothing_and_it_is_said() -> None:
    with pytest.raises(NotIdentifiableError, match="full: all attempts read 500 tokens"):
        fit_demand(same("full", 200), "full")


def test_lengths_that_move_together_tell_nothing_of_the_input_weight() -> None:
    dice = np.random.default_rng(6)
    together = [
        AttemptSample(
            "full", 10 * k, 0, k, float((0.12 * 10 * k + k) * np.exp(0.05 * dice.normal()))
        )
        for k in range(10, 210)
    ]
    with pytest.raises(NotIdentifiableError, match="move together"):
        fit_demand(together, "full")


def test_times_that_follow_no_length_are_no_demand_model() -> None:
    dice = np.random.default_rng(11)
    noise = [
        AttemptSample("full", int(x), 0, int(z), float(10 ** dice.uniform(-6, 9)))
        for x, z in dice.integers(1, 5000, (150, 2))
    ]
    with pytest.raises(NotIdentifiableError, match="times hardly follow"):
        fit_demand(noise, "full")


def test_reading_that_costs_nothing_has_no_weight_to_state() -> None:
    free = [replace(s, accelerator_ms=5.0 * s.output_tokens) for s in World().attempts(300, 12)]
    with pytest.raises(NotIdentifiableError, match="work of reading"):
        fit_demand(free, "full")


def test_too_few_attempts_are_counted() -> None:
    with pytest.raises(NotIdentifiableError, match="3 measured attempts of the 20"):
        fit_demand(same("full", 3), "full")
    with pytest.raises(NotIdentifiableError, match="0 measured attempts"):
        fit_demand([], "full")


def test_a_route_that_says_too_little_is_left_out_and_named() -> None:
    samples = World().attempts(600, seed=7) + same("huge", 100) + same("tiny", 3)
    found = fit_demand(samples, "full")
    assert set(found.factors) == set(FACTORS)
    assert "can't be told from a fixed part" in found.not_fitted["huge"]
    assert found.not_fitted["tiny"].startswith("3 measured attempts")


def test_an_attempt_without_a_time_is_no_sample() -> None:
    for ms in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="accelerator_ms"):
            AttemptSample("full", 1, 0, 1, ms)


def test_ranks_of_a_conformal_interval_by_hand() -> None:
    assert needed_for(0.95) == 39
    hundred = np.arange(1.0, 100.0)  # 1..99: ranks 2 and 98 of 99 at 95 %
    found = ratio_interval(GivenRatios(hundred), 0.95)
    assert (found.low, found.high) == (2.0, 98.0)
    assert ratio_interval(GivenRatios(hundred[:38]), 0.95).too_few
    assert ratio_interval(GivenRatios(hundred[:39]), 0.95).high == 39.0
    assert upper_ratio(GivenRatios(hundred), 0.95) == 95.0
    assert upper_ratio(GivenRatios(hundred[:18]), 0.95) is None


def test_a_cell_is_named_by_what_admission_knows() -> None:
    buckets = Buckets((512,), (64,))
    short = AttemptSample("full", 400, 0, 10, 5.0, max_output_tokens=900)
    assert buckets.of(short) == Cell("full", "0-512", "65+")
    assert buckets.of(replace(short, max_output_tokens=None)) == Cell("full", "0-512", "0-64")
