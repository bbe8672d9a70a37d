"""Tables of the room."""

from gates.models.calibration import (
    CalibrationCell,
    CalibrationCursor,
    CalibrationWatch,
    CompletionBin,
    PricedOut,
)
from gates.models.diffs import DecisionDiff
from gates.models.evidence import Evidence, EvidencePush
from gates.models.judging import Evaluation, Verdict, Window
from gates.models.points import DeclaredPoint

__all__ = [
    "CalibrationCell",
    "CalibrationCursor",
    "CalibrationWatch",
    "CompletionBin",
    "DecisionDiff",
    "DeclaredPoint",
    "Evaluation",
    "Evidence",
    "EvidencePush",
    "PricedOut",
    "Verdict",
    "Window",
]
