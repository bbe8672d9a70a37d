"""The watch over a cell's error: silent while nothing changes, and soon after something does."""

import numpy as np
import pytest

from orchid.engine.calibration import drift
from orchid.engine.calibration.drift import LEAST_RATIOS, Watch, advance, log_of


def fed(watch: Watch, errors: list[float], dice: np.random.Generator, from_ms: float = 0) -> Watch:
    """Blocks of exactly `LEAST_RATIOS` requests over a minute, each with its own error."""
    for block, error in enumerate(errors):
        for n in range(LEAST_RATIOS):
            at_ms = from_ms + block * 100_000 + n * 60_000 / (LEAST_RATIOS - 1)
            watch = advance(watch, error + float(dice.normal(0, 0.05)), at_ms, float(dice.random()))
    return watch


def test_a_block_needs_requests_and_time() -> None:
    dice = np.random.default_rng(0)
    many = Watch()
    for _ in range(200):
        many = advance(many, 0.0, 0.0, float(dice.random()))
    assert (many.blocks, many.open_n) == (0, 200)
    assert fed(Watch(), [0.0], dice).blocks == 1
    few = advance(advance(Watch(), 0.0, 0.0, 0.5), 0.0, 3_600_000.0, 0.5)
    assert few.blocks == 0


def test_a_steady_error_raises_no_alarm_however_large_it_is() -> None:
    watch = fed(Watch(), [0.7] * 300, np.random.default_rng(1))
    assert watch.alarm_ms is None
    assert watch.shift == pytest.approx(0, abs=0.05)


def test_an_error_that_moves_is_found_with_how_far_it_moved() -> None:
    dice = np.random.default_rng(2)
    before = fed(Watch(), [0.0] * 60, dice)
    after = fed(before, [0.2] * 40, dice, from_ms=6_000_000)
    assert before.alarm_ms is None
    assert after.alarm_ms is not None
    assert after.alarm_ms - 6_000_000 < 30 * 100_000
    assert after.shift == pytest.approx(np.expm1(0.2), abs=0.05)


def test_an_error_that_shrinks_is_found_too() -> None:
    dice = np.random.default_rng(3)
    watch = fed(fed(Watch(), [0.0] * 60, dice), [-0.2] * 40, dice, from_ms=6_000_000)
    assert watch.alarm_ms is not None
    assert (watch.shift or 0) < -0.1


def test_the_run_length_to_a_false_alarm_is_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a run length of 50 blocks, 60 watches that nothing happens to."""
    monkeypatch.setattr(drift, "RUN_LENGTH", 50)
    dice, lengths = np.random.default_rng(4), []
    for _ in range(60):
        watch, blocks = Watch(), 0
        while watch.alarm_ms is None and blocks < 1000:
            watch = fed(watch, [0.0], dice, from_ms=blocks * 100_000.0)
            blocks += 1
        lengths.append(blocks)
    assert np.mean(lengths) >= 40


def test_nothing_at_all_has_a_logarithm_too() -> None:
    assert log_of(0.0) == drift.LEAST_LOG
    assert log_of(1.0) == 0
