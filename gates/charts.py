"""Figures of the room: pure functions from selector rows to Plotly JSON and the table beside it."""

import json
from collections.abc import Sequence
from typing import Any

from controlplane.web import Column, Plot, Table
from gates.selectors.frontier import FrontierPoint

_SYMBOLS = {
    "measured": "circle",
    "predicted": "diamond-open",
    "replayed": "square",
    "declared": "x",
}
_COLUMNS = (
    Column("Point"),
    Column("Kind"),
    Column("Utility", numeric=True),
    Column("p95", numeric=True),
    Column("Cost per success", numeric=True),
    Column("Beaten on every count"),
    Column("Outcome"),
)
NOTE = (
    "A point is greyed when another has at least its utility at no more latency and cost. "
    "The larger the mark, the longer its p95. A point that lacks a figure is in the table only."
)


def frontier_plot(points: Sequence[FrontierPoint]) -> Plot:
    """Utility over cost per success, the mark's size by p95; dominated points are grey."""
    return Plot(
        element_id="frontier",
        title="Quality, latency and cost of each point",
        figure_json=json.dumps(_figure(points), allow_nan=False),
        table=Table("Points of the frontier", _COLUMNS, [_row(point) for point in points]),
        note=NOTE,
    )


def _figure(points: Sequence[FrontierPoint]) -> dict[str, Any]:
    complete = [point for point in points if _is_complete(point)]
    return {"data": _traces(complete), "layout": _layout(complete)}


def _traces(complete: Sequence[FrontierPoint]) -> list[dict[str, Any]]:
    kinds = dict.fromkeys((p.point.kind, p.dominated) for p in complete)
    return [
        _trace(kind, beaten, [p for p in complete if (p.point.kind, p.dominated) == (kind, beaten)])
        for kind, beaten in kinds
    ]


def _trace(kind: str, beaten: bool, points: Sequence[FrontierPoint]) -> dict[str, Any]:
    colour = "--line-strong" if beaten else "--accent"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": f"{kind}, beaten" if beaten else kind,
        "x": [float(p.point.cost_per_success_usd or 0) for p in points],
        "y": [p.point.utility for p in points],
        "text": [p.point.name for p in points],
        "customdata": [p.point.p95_ms for p in points],
        "hovertemplate": "%{text}<br>utility %{y:.4f}<br>$%{x:.8f} a success<br>"
        "p95 %{customdata:,.0f} ms<extra></extra>",
        "textposition": "top center",
        "cliponaxis": False,
        "textfont": {"color": "--ink-muted" if beaten else "--ink"},
        "marker": {
            "symbol": _SYMBOLS[kind],
            "color": colour,
            "size": [_size(p.point.p95_ms) for p in points],
        },
    }


def _size(p95_ms: float | None) -> float:
    """Pixels, from 9 for the fastest to 26 at three seconds and above."""
    return 9 + 17 * min((p95_ms or 0) / 3000, 1)


def _layout(complete: Sequence[FrontierPoint]) -> dict[str, Any]:
    costs = [float(found.point.cost_per_success_usd or 0) for found in complete]
    utilities = [found.point.utility or 0.0 for found in complete]
    return {
        "xaxis": {
            "title": {"text": "Dollars a success"},
            "tickformat": ".6f",
            "range": _range(costs),
        },
        "yaxis": {
            "title": {"text": "Utility index"},
            "tickformat": ".3f",
            "range": _range(utilities),
        },
        "legend": {"orientation": "h", "y": -0.25},
    }


def _range(values: Sequence[float]) -> list[float] | None:
    """Room for marks and names on both sides; one point alone would get an axis of its own sign."""
    if not values:
        return None
    least, most = min(values), max(values)
    room = 0.25 * (most - least) or 0.25 * abs(most) or 1.0
    return [least - room, most + room]


def _is_complete(found: FrontierPoint) -> bool:
    point = found.point
    return None not in (point.utility, point.p95_ms, point.cost_per_success_usd)


def _row(found: FrontierPoint) -> list[str]:
    point = found.point
    return [
        point.name,
        point.kind,
        "unknown" if point.utility is None else f"{point.utility:.4f}",
        "unknown" if point.p95_ms is None else f"{point.p95_ms:,.0f} ms",
        _usd(found),
        "yes" if found.dominated else "no",
        found.outcome,
    ]


def _usd(found: FrontierPoint) -> str:
    cost = found.point.cost_per_success_usd
    return "unknown" if cost is None else f"${round(cost, 10).normalize():f}"
