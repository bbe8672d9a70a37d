"""The e-detector of a live generation: it restarts by itself, so a good year hides no bad hour.

For an alternative share q below the required p0, one step of n requests of which s are good has the
likelihood ratio

    e = (q/p0)^(s/deff) ((1-q)/(1-p0))^((n-s)/deff)

whose mean is at most 1 while the share is at least p0. The Shiryaev-Roberts recursion
R_n = (R_{n-1} + 1) e adds up the evidence of every past moment at which the share may have fallen,
one recursion for each alternative of a small grid, averaged. R_n - n is a supermartingale while the
share holds, so the first R >= A comes after at least A steps on average (Shin, Ramdas, Rinaldo
2024, New England J. Stat. Data Sci. 2; the averaging of e-values is Vovk, Wang 2021).

State is small: one number for each test and alternative. All is vectorised over tests, which are
scopes x gates; a test without requests in a step keeps its state but for the 1 that the step adds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from orchid.engine.verdict.proportion import Floats, Numbers, floats

#: Odds of a good request under each alternative, as a part of those that are due: from a slow
#: erosion to an outage. Doubling distances lose little against knowing the fallen share.
GRID = (0.8, 0.65, 0.45, 0.25, 0.08)
# A required share of exactly 0 or 1 has no odds.
_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class State:
    """log R by test (rows) and alternative (columns), after `steps` steps."""

    log_r: Floats
    steps: int = 0

    @classmethod
    def new(cls, tests: int, grid: Sequence[float] = GRID) -> Self:
        """Before any step: R is 0."""
        return cls(np.full((tests, len(grid)), -np.inf))

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, None for R = 0; `of_json` gives the very same state back."""
        rows = [[None if math.isinf(x) else x for x in row] for row in self.log_r.tolist()]
        return {"steps": self.steps, "log_r": rows}

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """The state that `as_json` wrote."""
        rows = [[-math.inf if x is None else x for x in row] for row in given["log_r"]]
        return cls(np.array(rows, float).reshape(len(rows), -1), given["steps"])

    @property
    def log_evidence(self) -> Floats:
        """log R of each test, averaged over the alternatives."""
        return _log_mean(self.log_r, axis=1)


def advance(
    state: State,
    s: Numbers,
    n: Numbers,
    p0: Numbers,
    effect: Numbers,
    grid: Sequence[float] = GRID,
) -> State:
    """The state after one more step with `s` of `n` requests good in each test.

    `effect` is the design effect known before the step. A step never counts as less than one
    independent record: then e is valid for any dependence inside it, by convexity.
    """
    good, total, due, known = (floats(x)[..., None] for x in (s, n, p0, effect))
    due = np.clip(due, _EDGE, 1 - _EDGE)
    q = alternatives(due, grid)
    deff = np.clip(known, 1.0, np.maximum(total, 1.0))
    gained = (good * np.log(q / due) + (total - good) * np.log((1 - q) / (1 - due))) / deff
    return State(np.logaddexp(state.log_r, 0.0) + gained, state.steps + 1)


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a state says: `rings` for the whole, `alone` for each test that would by itself.

    The whole is the mean over the tests, which one test reaches alone at `run_length` times their
    number. `log_evidence` and `log_due` are what is compared.
    """

    rings: bool
    alone: NDArray[np.bool_]
    log_evidence: float
    log_due: float


def alarm(state: State, run_length: int) -> Alarm:
    """Whether harm shows, with `run_length` steps on average to a false alarm of the whole."""
    each = state.log_evidence
    due = math.log(run_length)
    if not each.size:
        return Alarm(False, np.zeros(0, bool), -math.inf, due)
    mean = float(_log_mean(each))
    return Alarm(mean >= due, each >= due + math.log(each.size), mean, due)


def run_length_steps(false_alarm_every_ms: int, step_s: int) -> int:
    """The steps between two false alarms on average."""
    return max(1, false_alarm_every_ms // (1000 * step_s))


def expected_delay_steps(
    p0: float, share: float, n_per_step: float, effect: float, run_length: int, tests: int = 1
) -> float:
    """About how many steps a fall to `share` takes to ring, if it is in one of `tests` alone.

    log(run length x tests x alternatives) over the evidence of a step, which is the best gain among
    the alternatives; infinite where no step speaks for harm.
    """
    records = n_per_step / min(max(effect, 1.0), max(n_per_step, 1.0))
    q = alternatives(p0)
    gains = share * np.log(q / p0) + (1 - share) * np.log((1 - q) / (1 - p0))
    gain = records * float(np.max(gains))
    return math.log(run_length * tests * len(GRID)) / gain if gain > 0 else math.inf


def alternatives(p0: Numbers, grid: Sequence[float] = GRID) -> Floats:
    """The shares whose odds are the grid's parts of those of p0."""
    return floats(special.expit(special.logit(floats(p0)) + np.log(floats(np.array(grid)))))


def _log_mean(logs: Floats, axis: int | None = None) -> Floats:
    size = logs.size if axis is None else logs.shape[axis]
    return floats(np.logaddexp.reduce(logs, axis=axis) - math.log(max(1, size)))
