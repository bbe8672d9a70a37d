"""Reads that pages, the API, tasks and the room above share."""

from gates.selectors.frontier import FrontierPoint, bounds_now, frontier
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
    "figures",
    "frontier",
    "gates_now",
    "latest",
    "live_window",
    "predicted",
    "window_for",
]
