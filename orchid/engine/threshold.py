"""The threshold of a cascade or classifier, from answers that are known to be right or wrong.

A false accept is an answer at or over the threshold that is wrong; its rate is their part of the
accepted answers, which is what a client sees. Candidates are fixed by the scores alone, and the
rate of each is bounded exactly (Clopper and Pearson 1934) at its part of the allowed error, so the
choice among them costs no honesty (union bound; "Learn then Test", Angelopoulos, Bates, Candes,
Jordan, Lei 2021).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchid.engine.arithmetic import cascade_break_even, cascade_cost
from orchid.engine.binomial import upper_bound

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Validated:
    """The lowest threshold whose false-accept rate is within the target; None where none is.

    `upper` bounds the rate with the stated confidence, whatever was chosen; with no threshold the
    counts are those of the strictest candidate.
    """

    threshold: float | None
    target: float
    confidence: float
    n: int
    accepted: int
    wrong: int
    upper: float

    @property
    def accepts(self) -> float:
        """Part of the answers that the threshold accepts."""
        return self.accepted / self.n if self.threshold is not None else 0.0


def threshold_for(
    scores: ArrayLike, correct: ArrayLike, target_false_accept: float, *, confidence: float = 0.95
) -> Validated:
    """Choose from scored answers of the small route. Raises ValueError for unusable input."""
    score, right = _checked(scores, correct)
    candidates = _candidates(score)
    alpha = (1 - confidence) / len(candidates)
    found: Validated | None = None
    for at in candidates:
        taken = score >= at
        accepted, wrong = int(taken.sum()), int((taken & ~right).sum())
        upper = upper_bound(wrong, accepted, alpha)
        kept = Validated(at, target_false_accept, confidence, len(score), accepted, wrong, upper)
        if upper <= target_false_accept:
            return kept
        found = kept
    assert found is not None
    return Validated(
        None, target_false_accept, confidence, len(score), found.accepted, found.wrong, found.upper
    )


def _candidates(score: NDArray[np.float64]) -> list[float]:
    """Scores at evenly spaced accepted parts, the most accepting first."""
    parts = np.arange(CANDIDATES) / CANDIDATES
    return [float(at) for at in np.unique(np.quantile(score, parts, method="inverted_cdf"))]


@dataclass(frozen=True, slots=True)
class Operating:
    """A cascade at one threshold, over answered requests of both routes. Parts of 1.

    `cost` is against sending everything to the large route; over 1 the cascade costs more than it
    saves, which begins at an escalation of `break_even`.
    """

    escalation: float
    cost: float
    break_even: float
    accuracy: float
    small_accuracy: float
    large_accuracy: float
    false_accept: float | None
    """None where nothing is accepted."""

    @property
    def saves(self) -> bool:
        return self.escalation < self.break_even


def operating_at(
    threshold: float,
    scores: ArrayLike,
    small_correct: ArrayLike,
    large_correct: ArrayLike,
    small_cost_ratio: float,
) -> Operating:
    """What the threshold would have done with these requests."""
    score, small = _checked(scores, small_correct)
    _, large = _checked(scores, large_correct)
    accepted = score >= threshold
    escalation = 1 - float(accepted.mean())
    return Operating(
        escalation=escalation,
        cost=cascade_cost(small_cost_ratio, escalation),
        break_even=cascade_break_even(small_cost_ratio),
        accuracy=float(np.where(accepted, small, large).mean()),
        small_accuracy=float(small.mean()),
        large_accuracy=float(large.mean()),
        false_accept=1 - float(small[accepted].mean()) if accepted.any() else None,
    )


def _checked(
    scores: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    score, right = np.asarray(scores, dtype=np.float64), np.asarray(correct)
    if score.ndim != 1 or right.shape != score.shape:
        raise ValueError(f"one verdict for each score: {score.shape} against {right.shape}")
    if not len(score):
        raise ValueError("no scored answer")
    if not np.isfinite(score).all():
        raise ValueError("every score must be a finite number")
    if not np.isin(right, (0, 1)).all():
        raise ValueError("every verdict must be 0 (wrong) or 1 (right)")
    return score, right.astype(np.bool_)
