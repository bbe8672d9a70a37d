"""Where a rollout stands: its stages, its clock, its evidence, and what keeps it from moving."""

from releases.selectors.progress.before import harm_before
from releases.selectors.progress.condition import Condition
from releases.selectors.progress.places import Place, by_segment_of, places, refuse_apart, vector_of
from releases.selectors.progress.standing import Lane, Progress, progress

__all__ = [
    "Condition",
    "Lane",
    "Place",
    "Progress",
    "by_segment_of",
    "harm_before",
    "places",
    "progress",
    "refuse_apart",
    "vector_of",
]
