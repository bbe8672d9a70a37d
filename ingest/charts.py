"""Figures of the room: pure functions from selector rows to Plotly JSON and the table beside it."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from controlplane.web import Column, Plot, Table
from ingest.selectors.engine_view import Step

#: Lines that can be told apart; the routes of a document beyond them are in the table alone.
_COLOURS = ("--accent", "--pass", "--inconclusive", "--fail", "--line-strong")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def latency_plot(steps: Sequence[Step]) -> Plot:
    """p95 of each route's executions over the window; a stretch without any is a gap."""
    routes = sorted({step.route for step in steps})
    return Plot(
        element_id="engine-latency",
        title="p95 of each route as its engine tells it, milliseconds",
        figure_json=json.dumps(_figure(steps, routes), allow_nan=False),
        table=_table(steps, routes),
        note="By the moment at which an execution's report arrived here, since some engines count "
        "their time from their own start.",
    )


def _figure(steps: Sequence[Step], routes: Sequence[str]) -> dict[str, Any]:
    drawn = routes[: len(_COLOURS)]
    return {
        "data": [_line(steps, route, place) for place, route in enumerate(drawn)],
        "layout": {
            "xaxis": {"title": {"text": "UTC"}, "type": "date"},
            "yaxis": {"title": {"text": "Milliseconds"}, "rangemode": "tozero"},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"},
        },
    }


def _line(steps: Sequence[Step], route: str, place: int) -> dict[str, Any]:
    moments = sorted({step.at for step in steps})
    mine = {step.at: step.p95 for step in steps if step.route == route}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": route,
        "x": [at.isoformat() for at in moments],
        "y": [mine.get(at) for at in moments],
        "connectgaps": False,
        "line": {"color": _COLOURS[place], "dash": _DASHES[place]},
        "hovertemplate": f"{route}<br>%{{x}}<br>p95 %{{y:.1f}} ms<extra></extra>",
    }


def _table(steps: Sequence[Step], routes: Sequence[str]) -> Table:
    columns = [Column("From (UTC)")]
    for route in routes:
        columns += [Column(f"{route} executions", numeric=True)]
        columns += [
            Column(f"{route} p50 ms", numeric=True),
            Column(f"{route} p95 ms", numeric=True),
        ]
    cells = {(step.at, step.route): step for step in steps}
    moments = sorted({step.at for step in steps})
    rows = [[_clock(at), *_cells(cells, at, routes)] for at in moments]
    return Table("Executions and latency over the window", columns, rows)


def _cells(
    cells: dict[tuple[datetime, str], Step], at: datetime, routes: Sequence[str]
) -> list[str]:
    found = [cells.get((at, route)) for route in routes]
    return [text for step in found for text in _texts(step)]


def _texts(step: Step | None) -> tuple[str, str, str]:
    if step is None:
        return "0", "none", "none"
    return f"{step.executions:,}", _ms(step.p50), _ms(step.p95)


def _ms(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}"


def _clock(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
