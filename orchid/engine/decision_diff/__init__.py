"""What would another document have decided? Two of them over the same recorded requests."""

from orchid.engine.decision_diff.compare import decision_diff
from orchid.engine.decision_diff.recorded import Recorded, read_recorded, recorded
from orchid.engine.decision_diff.result import (
    Answer,
    DecisionDiff,
    Example,
    Mode,
    Pair,
    Part,
    Side,
    Unread,
)

__all__ = [
    "Answer",
    "DecisionDiff",
    "Example",
    "Mode",
    "Pair",
    "Part",
    "Recorded",
    "Side",
    "Unread",
    "decision_diff",
    "read_recorded",
    "recorded",
]
