"""Writes of the room."""

from gates.services.declared import load_declared_points
from gates.services.evaluation import evaluate
from gates.services.evidence import push_evidence, push_evidence_set
from gates.services.recorded_diff import ask_decision_diff
from gates.services.windows import close_window, open_window

__all__ = [
    "ask_decision_diff",
    "close_window",
    "evaluate",
    "load_declared_points",
    "open_window",
    "push_evidence",
    "push_evidence_set",
]
