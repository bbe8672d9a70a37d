"""Reads that pages, the API, tasks and the room above share."""

from gates.selectors.frontier import FrontierPoint, bounds_now, frontier
from gates.selectors.recorded_diff import decision_diff_for, shown
from gates.selectors.trade import Trade, bounds, predicted
from gates.selectors.verdicts import (
    Figures,
    GatesNow,
    figures,
    gates_now,
    latest,
    live_window,
    window_for,
)

__all__ = [
    "Figures",
    "FrontierPoint",
    "GatesNow",
    "Trade",
    "bounds",
    "bounds_now",
    "decision_diff_for",
    "figures",
    "frontier",
    "gates_now",
    "latest",
    "live_window",
    "predicted",
    "shown",
    "window_for",
]
