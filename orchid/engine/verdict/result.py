"""The shape of one verdict: one gate, over the whole or over one segment."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Verdict(StrEnum):
    """What a gate says. Only PASS lets anything advance."""

    PASS = "pass"  # noqa: S105 -- a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NO_DATA = "no_data"


@dataclass(frozen=True, slots=True)
class Result:
    """One gate judged over one part of the traffic ("" is the whole).

    `value`, `bound` and `margin` are decimal text in the metric's own unit, None when unknown; the
    margin is positive on the good side. `n` counts what the verdict rests on, `n_effective` the
    same after deflation for correlated neighbours. The e-values are natural logarithms; a gate that
    is not a test of a proportion has none. `needs` is how many more requests a verdict would take
    at the share observed, `needs_s` the
    seconds until then at the present rate of requests.
    """

    metric: str
    segment: str
    verdict: Verdict
    bound: str
    message: str
    value: str | None = None
    margin: str | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_effective: float = 0.0
    minimum: int = 0
    log_e_pass: float | None = None
    log_e_fail: float | None = None
    needs: int | None = None
    needs_s: float | None = None
    fragile: bool = False


@dataclass(frozen=True, slots=True)
class Levels:
    """The error chances of one evaluation: `tests` is how many results can fail it."""

    alpha_pass: float
    alpha_fail: float
    tests: int = 1

    @property
    def alpha_each_fail(self) -> float:
        """The level at which one result fails alone, corrected for all that could."""
        return self.alpha_fail / max(1, self.tests)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A figure that was signed of a metric over the whole ("") or a gated segment.

    `bound` is its unfavourable side, which a stage is held to; both are decimal text in the
    metric's unit, and `side` says whether the bound is the most or the least.
    """

    metric: str
    segment: str
    bound: str
    accepted: str
    side: Literal["max", "min"]
