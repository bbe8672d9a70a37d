"""How long the detector of a live generation runs until a false alarm, and until a true one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.gates.alpha.peeking import REQUIRED
from benchmarks.gates.alpha.traffic import PER_MINUTE
from orchid.engine.verdict import detector

#: Declared for the measurement of the false alarm: a month would take too long to wait for.
RUN_LENGTH = 500
#: A month of minutes, for the measurement of the delay.
MONTH = 30 * 24 * 60
FALLEN = 0.9
QUIET = 1_000

Steps = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Detected:
    """Steps to the alarm: on average while all is at the bound, and after a fall."""

    false_mean: float
    delay_median: float
    delay_expected: float


def measure(runs: int) -> Detected:
    """Independent requests, 100 a step; the fall comes after a thousand steps at the bound."""
    generator = np.random.default_rng(7)
    state = detector.State.new(runs)
    false = _steps_to_alarm(state, generator, REQUIRED, RUN_LENGTH, 20 * RUN_LENGTH)
    for _ in range(QUIET):
        state = _step(state, generator, REQUIRED)
    delay = _steps_to_alarm(state, generator, FALLEN, MONTH, 1_000)
    expected = detector.expected_delay_steps(REQUIRED, FALLEN, PER_MINUTE, 1.0, MONTH)
    return Detected(float(false.mean()), float(np.median(delay)), expected)


def _steps_to_alarm(
    state: detector.State, generator: np.random.Generator, share: float, length: int, most: int
) -> Steps:
    """By run; `most` where no alarm came until then, which makes the mean too small."""
    steps = np.full(len(state.log_r), most)
    for step, after in enumerate(_walk(state, generator, share, most), start=1):
        ringing = after.log_evidence >= math.log(length)
        steps[ringing & (steps == most)] = step
        if np.all(steps < most):
            break
    return steps


def _walk(
    state: detector.State, generator: np.random.Generator, share: float, most: int
) -> Iterator[detector.State]:
    for _ in range(most):
        state = _step(state, generator, share)
        yield state


def _step(state: detector.State, generator: np.random.Generator, share: float) -> detector.State:
    good = generator.binomial(PER_MINUTE, share, len(state.log_r))
    return detector.advance(state, good, PER_MINUTE, REQUIRED, 1.0)
