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
from gates.models.revisit import DeclaredCase, RevisitItem

__all__ = [
    "CalibrationCell",
    "CalibrationCursor",
    "CalibrationWatch",
    "CaseBody",
    "CompletionBin",
    "DecisionDiff",
    "DeclaredCase",
    "DeclaredPoint",
    "Evaluation",
    "Evidence",
    "EvidencePush",
    "Mark",
    "PricedOut",
    "RevisitItem",
    "Verdict",
    "Watch",
    "Window",
]
