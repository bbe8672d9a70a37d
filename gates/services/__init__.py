"""Writes of the room."""

from gates.services.asking import ask_product
from gates.services.cases import cite
from gates.services.declared import load_declared_points
from gates.services.evaluation import evaluate
from gates.services.evidence import push_evidence, push_evidence_set
from gates.services.recorded_diff import ask_decision_diff
from gates.services.windows import close_window, go_live, open_window

__all__ = [
    "ask_decision_diff",
    "ask_product",
    "cite",
    "close_window",
    "evaluate",
    "go_live",
    "load_declared_points",
    "open_window",
    "push_evidence",
    "push_evidence_set",
]
