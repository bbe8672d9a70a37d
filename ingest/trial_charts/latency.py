"""Request latency of a run over the rate that was achieved, and the points behind it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from controlplane.figures import UNKNOWN
from controlplane.web import Column, Plot, Table
from ingest.models import Trial
from ingest.trial_charts.shared import (
    COLOURS,
    LATENCY,
    MOST_ROWS,
    SHOWN,
    Point,
    View,
    latency_ms,
    number,
)

_DASHES = {"p50": "dot", "p95": "solid", "p99": "dash"}


def latency_plot(run: Sequence[Trial]) -> Plot | None:
    """Request latency over the rate achieved, by level of load; None when no point has both."""
    views = [View(trial, ours) for trial in run for ours in (False, True)]
    series: dict[str, list[tuple[View, Point]]] = {}
    for view in views:
        for point in view.trial.points:
            if view.metric(point, LATENCY) and point["achieved_per_s"] is not None:
                series.setdefault(view.name, []).append((view, point))
    if not series:
        return None
    data = [
        trace
        for number, (name, points) in enumerate(series.items())
        for trace in _lines(name, points, COLOURS[number % len(COLOURS)])
    ]
    layout = {
        "xaxis": {"title": {"text": "Achieved, a second"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "Request latency, ms"}, "rangemode": "tozero"},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"},
    }
    return Plot(
        element_id="trial-latency",
        title="Request latency over the rate that was achieved",
        figure_json=json.dumps({"data": data, "layout": layout}, allow_nan=False),
        table=points_table(run),
        note="Each line keeps the percentile method and the clock of whoever tells it; lines of "
        "two methods are never joined or averaged.",
    )


def _lines(name: str, points: list[tuple[View, Point]], colour: str) -> Iterable[dict[str, Any]]:
    ordered = sorted(points, key=lambda one: one[1]["level"] or one[1]["achieved_per_s"])
    levels = [point["level"] for _, point in ordered]
    is_a_line = None not in levels and len(set(levels)) == len(levels)
    for statistic in SHOWN:
        held = [(p, latency_ms(view, p, statistic)) for view, p in ordered]
        told = [(point, value) for point, value in held if value is not None]
        if not told:
            continue
        yield {
            "type": "scatter",
            "mode": "lines+markers" if is_a_line else "markers",
            "name": f"{statistic}, {name}",
            "x": [point["achieved_per_s"] for point, _ in told],
            "y": [value for _, value in told],
            "text": [point["label"] for point, _ in told],
            "hovertemplate": "%{text}<br>%{x:.4g} a second<br>%{y:.4g} ms<extra></extra>",
            "line": {"color": colour, "dash": _DASHES[statistic]},
            "marker": {"color": colour},
        }


def points_table(run: Sequence[Trial]) -> Table:
    """A row a point and teller: counts, rates, latency in milliseconds."""
    columns = (
        Column("Point"),
        Column("Told by"),
        *(Column(name, numeric=True) for name in ("Requests", "Errors", "Cancelled", "Warm-up")),
        *(Column(name, numeric=True) for name in ("Offered/s", "Achieved/s")),
        *(Column(f"{name} ms", numeric=True) for name in SHOWN),
    )
    rows = [
        _point_row(view, point)
        for trial in run
        for point in trial.points
        for view in (View(trial, False), View(trial, True))
        if point[view.key]
    ]
    return Table("Points of the trial", columns, rows[:MOST_ROWS])


def _point_row(view: View, point: Point) -> list[str]:
    counts = [point[name] for name in ("requests", "errors", "cancelled", "warm_up")]
    rates = [point[name] for name in ("offered_per_s", "achieved_per_s")]
    latencies = [latency_ms(view, point, statistic) for statistic in SHOWN]
    return [
        point["label"],
        view.name,
        *(UNKNOWN if one is None else f"{one:,}" for one in counts),
        *(number(one) for one in rates),
        *(number(one) for one in latencies),
    ]
