"""The frontier as a picture: utility over cost, latency by the size of the mark."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from controlplane.web import Plot
from gates import wording
from gates.charts.frontier_table import Bounds, frontier_table, p95_text
from gates.labels import sides
from gates.selectors.frontier import FrontierPoint
from gates.states import Metric
from orchid.engine.frontier import Interval

_SYMBOLS = {
    "measured": "circle",
    "predicted": "diamond-open",
    "replayed": "square",
    "declared": "x",
}
_COLOURS = {"": "--accent", "selected": "--accent", "not told apart": "--inconclusive"}
NOTE = (
    "The tinted corner holds the points that keep the bounds that are drawn. A point is grey when "
    "another has at least its utility at no more latency and cost, and amber when it only looks "
    "so: their intervals overlap, and the two are not told apart. The larger the mark, the longer "
    "its p95; bars are intervals of 95 %. A point that lacks a figure is in the table only."
)


def frontier_plot(
    points: Sequence[FrontierPoint], bounds: Bounds, element_id: str = "frontier"
) -> Plot:
    """Utility over cost per success, the mark's size by p95; a bound that is absent is no line."""
    return Plot(
        element_id=element_id,
        title="Quality, latency and cost of each point",
        figure_json=json.dumps(_figure(points, bounds), allow_nan=False),
        table=frontier_table(points, bounds),
        note=NOTE,
    )


def _figure(points: Sequence[FrontierPoint], bounds: Bounds) -> dict[str, Any]:
    complete = [point for point in points if _is_complete(point)]
    limits = {m: float(bounds[m]) for m in (Metric.COST, Metric.UTILITY) if m in bounds}
    across = _range(_reached(complete, _cost, _cost_interval), limits.get(Metric.COST))
    up = _range(_reached(complete, _utility, _utility_interval), limits.get(Metric.UTILITY))
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
            "shapes": _bound_shapes(limits, across, up),
            "annotations": _bound_labels(bounds, limits, across),
        },
    }


def _traces(complete: Sequence[FrontierPoint], named: Mapping[str, str]) -> list[dict[str, Any]]:
    kinds = dict.fromkeys((p.point.kind, _standing(p)) for p in complete)
    return [
        _trace(*kind, [p for p in complete if (p.point.kind, _standing(p)) == kind], named)
        for kind in kinds
    ]


def _standing(found: FrontierPoint) -> str:
    if found.beaten is not None:
        return "dominated" if found.beaten.surely else "not told apart"
    return "selected" if found.is_selected else ""


def _trace(
    kind: str, standing: str, points: Sequence[FrontierPoint], named: Mapping[str, str]
) -> dict[str, Any]:
    colour = _COLOURS.get(standing, "--line-strong")
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": f"{kind}, {standing}" if standing else kind,
        "x": [_cost(p) for p in points],
        "y": [_utility(p) for p in points],
        "error_x": _bars([_cost(p) for p in points], [_cost_interval(p) for p in points], colour),
        "error_y": _bars(
            [_utility(p) for p in points], [_utility_interval(p) for p in points], colour
        ),
        "text": [f"{p.point.name}<br>p95 {p95_text(p.point)}" for p in points],
        "hovertemplate": "%{text}<br>utility %{y:.4f}<br>$%{x:.8f} a success<extra></extra>",
        "textposition": [named[p.point.name] for p in points],
        "textfont": {"color": "--ink-muted" if standing == "dominated" else "--ink"},
        "cliponaxis": False,
        "marker": {
            "symbol": "star" if standing == "selected" else _SYMBOLS[kind],
            "color": colour,
            "opacity": 1,
            "size": [_size(p.point.p95_ms) for p in points],
        },
    }


def _bars(
    values: Sequence[float], intervals: Sequence[Interval | None], colour: str
) -> dict[str, Any]:
    """From each value to the ends of its interval; an end without a number has no bar."""
    ends = [interval or (value, value) for value, interval in zip(values, intervals, strict=True)]
    reach = [(value - low, high - value) for value, (low, high) in zip(values, ends, strict=True)]
    below, above = ([end if math.isfinite(end) else 0.0 for end in side] for side in _sides(reach))
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "color": colour,
        "thickness": 1,
        "width": 4,
        "visible": any(above) or any(below),
    }


def _sides(reach: Sequence[Interval]) -> tuple[list[float], list[float]]:
    return [below for below, _ in reach], [above for _, above in reach]


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
    limits: Mapping[Metric, float], across: list[float], up: list[float]
) -> list[dict[str, Any]]:
    cost, utility = limits.get(Metric.COST), limits.get(Metric.UTILITY)
    dashed = {"type": "line", "layer": "below", "line": {"color": "--fail", "dash": "dash"}}
    shapes: list[dict[str, Any]] = [
        {
            "type": "rect",
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": "--pass-soft",
            "opacity": 0.55,
            "x0": across[0],
            "x1": across[1] if cost is None else cost,
            "y0": up[0] if utility is None else utility,
            "y1": up[1],
        }
    ]
    if cost is not None:
        shapes.append({**dashed, "x0": cost, "x1": cost, "yref": "paper", "y0": 0, "y1": 1})
    if utility is not None:
        shapes.append({**dashed, "xref": "paper", "x0": 0, "x1": 1, "y0": utility, "y1": utility})
    return shapes


def _bound_labels(
    bounds: Bounds, limits: Mapping[Metric, float], across: list[float]
) -> list[dict[str, Any]]:
    """The cost's bound above its line, written towards the middle; utility's at the right end."""
    labels = []
    if Metric.COST in limits:
        along = _along(limits[Metric.COST], across)
        anchor = "left" if along < 0.35 else "right" if along > 0.65 else "center"
        place = {"x": limits[Metric.COST], "yref": "paper", "y": 1, "xanchor": anchor}
        labels.append(_bound_label(bounds, Metric.COST, **place))
    if Metric.UTILITY in limits:
        place = {"xref": "paper", "x": 1, "y": limits[Metric.UTILITY], "xanchor": "right"}
        labels.append(_bound_label(bounds, Metric.UTILITY, **place))
    return labels


def _bound_label(bounds: Bounds, metric: Metric, **place: Any) -> dict[str, Any]:
    return {
        "text": f"{metric.label} {wording.bound(metric, bounds[metric])}",
        "showarrow": False,
        "yanchor": "bottom",
        "font": {"color": "--fail"},
        **place,
    }


def _reached(
    points: Sequence[FrontierPoint],
    value: Callable[[FrontierPoint], float],
    interval: Callable[[FrontierPoint], Interval | None],
) -> list[float]:
    """Every value with the ends of its interval that are numbers."""
    ends = [end for point in points for end in interval(point) or () if math.isfinite(end)]
    return [*map(value, points), *ends]


def _range(values: Sequence[float], bound: float | None) -> list[float]:
    """Room for marks and names on both sides; one value alone would get an axis of its own sign."""
    known = [*values, *([] if bound is None else [bound])]
    least, most = min(known, default=0.0), max(known, default=1.0)
    room = 0.25 * (most - least) or 0.25 * abs(most) or 1.0
    return [least - room, most + room]


def _is_complete(found: FrontierPoint) -> bool:
    point = found.point
    return None not in (point.utility, point.p95_ms, point.cost_per_success_usd)


def _cost(found: FrontierPoint) -> float:
    return float(found.point.cost_per_success_usd or 0)


def _utility(found: FrontierPoint) -> float:
    return found.point.utility or 0.0


def _cost_interval(found: FrontierPoint) -> Interval | None:
    return found.point.cost_interval_usd


def _utility_interval(found: FrontierPoint) -> Interval | None:
    return found.point.utility_interval


def _along(value: float, limits: Sequence[float]) -> float:
    """Where a value lies on its axis, from 0 to 1."""
    return (value - limits[0]) / (limits[1] - limits[0])
