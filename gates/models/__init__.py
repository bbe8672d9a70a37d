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
from gates.models.judging import CaseBody, Evaluation, Mark, Verdict, Watch, Window
from gates.models.points import DeclaredPoint

__all__ = [
    "CalibrationCell",
    "CalibrationCursor",
    "CalibrationWatch",
    "CaseBody",
    "CompletionBin",
    "DecisionDiff",
    "DeclaredPoint",
    "Evaluation",
    "Evidence",
    "EvidencePush",
    "Mark",
    "PricedOut",
    "Verdict",
    "Watch",
    "Window",
]
