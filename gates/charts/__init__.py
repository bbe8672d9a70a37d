"""Figures of the room, one module a picture: from selector rows to Plotly JSON and its table."""

from gates.charts.frontier import frontier_plot

__all__ = ["frontier_plot"]
