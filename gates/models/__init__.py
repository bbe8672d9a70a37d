"""Tables of the room."""

from gates.models.diffs import DecisionDiff
from gates.models.evidence import Evidence
from gates.models.judging import Evaluation, Verdict, Window
from gates.models.points import DeclaredPoint

__all__ = ["DecisionDiff", "DeclaredPoint", "Evaluation", "Evidence", "Verdict", "Window"]
