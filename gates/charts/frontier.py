"""Figures of the room: pure functions from selector rows to Plotly JSON and the table beside it."""

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from controlplane.figures import UNKNOWN
from controlplane.web import Column, Plot, Table
from gates import wording
from gates.labels import sides
from gates.selectors.frontier import FrontierPoint
from gates.states import Metric
from orchid.engine.frontier import Point

Bounds = Mapping[str, str]

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
    Column("Misses"),
    Column("Dominated"),
    Column("Outcome"),
)
NOTE = (
    "The tinted corner holds the points that keep the bounds of both cost and utility. A point is "
    "grey when another has at least its utility at no more latency and cost. The larger the mark, "
    "the longer its p95. A point that lacks a figure is in the table only."
)


def frontier_plot(points: Sequence[FrontierPoint], bounds: Bounds) -> Plot:
    """Utility over cost per success, the mark's size by p95; dominated points are grey."""
    return Plot(
        element_id="frontier",
        title="Quality, latency and cost of each point",
        figure_json=json.dumps(_figure(points, bounds), allow_nan=False),
        table=Table("Points of the frontier", _COLUMNS, [_row(point, bounds) for point in points]),
        note=NOTE,
    )


def _figure(points: Sequence[FrontierPoint], bounds: Bounds) -> dict[str, Any]:
    complete = [point for point in points if _is_complete(point)]
    cost, utility = float(bounds[Metric.COST]), float(bounds[Metric.UTILITY])
    across = _range([*map(_cost, complete), cost])
    up = _range([*map(_utility, complete), utility])
    places = [(_along(_cost(p), across), _along(_utility(p), up)) for p in complete]
    names = [len(p.point.name) for p in complete]
    named = dict(zip([p.point.name for p in complete], sides(places, names), strict=True))
    return {
        "data": _traces(complete, named),
        "layout": {
            "xaxis": _axis("Dollars a success", across),
            "yaxis": _axis("Utility index", up),
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"},
            "shapes": _bound_shapes(cost, utility, across, up),
            "annotations": _bound_labels(bounds, cost, utility, _along(cost, across)),
        },
    }


def _traces(complete: Sequence[FrontierPoint], named: Mapping[str, str]) -> list[dict[str, Any]]:
    kinds = dict.fromkeys((p.point.kind, p.dominated) for p in complete)
    return [
        _trace(*kind, [p for p in complete if (p.point.kind, p.dominated) == kind], named)
        for kind in kinds
    ]


def _trace(
    kind: str, beaten: bool, points: Sequence[FrontierPoint], named: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": f"{kind}, dominated" if beaten else kind,
        "x": [_cost(p) for p in points],
        "y": [_utility(p) for p in points],
        "text": [f"{p.point.name}<br>p95 {_p95(p.point)}" for p in points],
        "hovertemplate": "%{text}<br>utility %{y:.4f}<br>$%{x:.8f} a success<extra></extra>",
        "textposition": [named[p.point.name] for p in points],
        "textfont": {"color": "--ink-muted" if beaten else "--ink"},
        "cliponaxis": False,
        "marker": {
            "symbol": _SYMBOLS[kind],
            "color": "--line-strong" if beaten else "--accent",
            "opacity": 1,
            "size": [_size(p.point.p95_ms) for p in points],
        },
    }


def _size(p95_ms: float | None) -> float:
    """Pixels, from 9 for the fastest to 26 at three seconds and above."""
    return 9 + 17 * min((p95_ms or 0) / 3000, 1)


def _axis(title: str, limits: list[float]) -> dict[str, Any]:
    """A few ticks, with the decimals that tell one from the next."""
    step = (limits[1] - limits[0]) / 5
    places = max(2, math.ceil(-math.log10(step)))
    return {
        "title": {"text": title},
        "tickformat": f".{places}f",
        "nticks": 6,
        "range": limits,
        "zeroline": False,
    }


def _bound_shapes(
    cost: float, utility: float, across: list[float], up: list[float]
) -> list[dict[str, Any]]:
    dashed = {"type": "line", "layer": "below", "line": {"color": "--fail", "dash": "dash"}}
    return [
        {
            "type": "rect",
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": "--pass-soft",
            "opacity": 0.55,
            "x0": across[0],
            "x1": cost,
            "y0": utility,
            "y1": up[1],
        },
        {**dashed, "x0": cost, "x1": cost, "yref": "paper", "y0": 0, "y1": 1},
        {**dashed, "xref": "paper", "x0": 0, "x1": 1, "y0": utility, "y1": utility},
    ]


def _bound_labels(
    bounds: Bounds, cost: float, utility: float, along: float
) -> list[dict[str, Any]]:
    """The cost's bound above its line, written towards the middle; utility's at the right end."""
    anchor = "left" if along < 0.35 else "right" if along > 0.65 else "center"
    return [
        _bound_label(bounds, Metric.COST, x=cost, yref="paper", y=1, xanchor=anchor),
        _bound_label(bounds, Metric.UTILITY, xref="paper", x=1, y=utility, xanchor="right"),
    ]


def _bound_label(bounds: Bounds, metric: Metric, **place: Any) -> dict[str, Any]:
    return {
        "text": f"{metric.label} {wording.bound(metric, bounds[metric])}",
        "showarrow": False,
        "yanchor": "bottom",
        "font": {"color": "--fail"},
        **place,
    }


def _range(values: Sequence[float]) -> list[float]:
    """Room for marks and names on both sides; one value alone would get an axis of its own sign."""
    least, most = min(values, default=0.0), max(values, default=1.0)
    room = 0.25 * (most - least) or 0.25 * abs(most) or 1.0
    return [least - room, most + room]


def _is_complete(found: FrontierPoint) -> bool:
    point = found.point
    return None not in (point.utility, point.p95_ms, point.cost_per_success_usd)


def _cost(found: FrontierPoint) -> float:
    return float(found.point.cost_per_success_usd or 0)


def _utility(found: FrontierPoint) -> float:
    return found.point.utility or 0.0


def _along(value: float, limits: Sequence[float]) -> float:
    """Where a value lies on its axis, from 0 to 1."""
    return (value - limits[0]) / (limits[1] - limits[0])


def _p95(point: Point) -> str:
    return UNKNOWN if point.p95_ms is None else wording.figure(Metric.COMPLETION, str(point.p95_ms))


def _row(found: FrontierPoint, bounds: Bounds) -> list[str]:
    texts = _texts(found.point)
    missed = [m.label for m in texts if wording.misses(m, texts[m], bounds[m])]
    utility, p95, cost = (wording.figure(m, text, bounds[m]) for m, text in texts.items())
    return [
        found.point.name,
        found.point.kind,
        utility,
        p95,
        cost,
        ", ".join(missed) or ("nothing known" if None in texts.values() else "nothing"),
        "yes" if found.dominated else "no",
        found.outcome,
    ]


def _texts(point: Point) -> dict[Metric, str | None]:
    """The point's figures as decimal text, by metric."""
    cost = point.cost_per_success_usd
    shown = None if cost is None else round(Decimal(cost), 10)
    found = {Metric.UTILITY: point.utility, Metric.COMPLETION: point.p95_ms, Metric.COST: shown}
    return {metric: None if value is None else str(value) for metric, value in found.items()}
