"""A gate over time: its value against its bound, over bands in the colours of its verdicts."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from controlplane.web import Column, Plot, Table
from gates import wording
from gates.selectors.history import History, Point, verdict_words
from gates.states import Metric

_BANDS = {
    "pass": "--pass-soft",
    "fail": "--fail-soft",
    "inconclusive": "--inconclusive-soft",
    "no_data": "--no-data-soft",
}
#: Gates whose interval is in the unit of their value; that of a latency gate is of the share within
#: its bound, that of violations of a rate.
_INTERVALS = (Metric.ATTAINMENT, Metric.UTILITY, Metric.COST)
_COLUMNS = (
    Column("Judged"),
    Column("Verdict"),
    Column("Value", numeric=True),
    Column("Bound", numeric=True),
    Column("Margin", numeric=True),
    Column("Interval", numeric=True),
    Column("n", numeric=True),
    Column("Publication"),
    Column("What happened"),
)
NOTE = (
    "The ground has the colour of the verdict. Of each slice of time the last judgement is shown, "
    "and every one at which a verdict changed. Triangles mark publications, diamonds evidence."
)
SHARES = " A latency gate's interval is of the share of requests within its bound."


def history_plot(found: History) -> Plot:
    """The picture and its table, newest first."""
    is_latency = found.metric.endswith("_p95_ms")
    return Plot(
        element_id="history",
        title=f"{found.metric.label} {_where(found.segment)}",
        figure_json=json.dumps(_figure(found), allow_nan=False),
        table=Table("Judgements", _COLUMNS, [_row(found, p) for p in reversed(found.points)]),
        note=NOTE + (SHARES if is_latency else ""),
    )


def _figure(found: History) -> dict[str, Any]:
    known = [point for point in found.points if point.row.value is not None]
    return {
        "data": [
            *_interval(found, known),
            *_lines(known, found.period.until),
            *_marks(found, known),
        ],
        "layout": {
            "xaxis": {"type": "date", "range": [_text(at) for at in _range(found)]},
            "yaxis": {"title": {"text": _unit(found.metric)}, "nticks": 6, "zeroline": False},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"},
            "shapes": list(_bands(found.points, found.period.until)),
        },
    }


def _lines(known: Sequence[Point], until: datetime) -> list[dict[str, Any]]:
    times = [_text(point.at) for point in known]
    bounds = [float(point.row.bound) for point in known]
    values = [float(point.row.value or 0) for point in known]
    dashed = {"color": "--fail", "dash": "dash", "shape": "hv"}
    drawn = {"color": "--ink", "width": 2}
    words = [f"{verdict_words(p.row.verdict)}, n {p.row.n:,}" for p in known]
    hover = "%{y}<br>%{text}<extra></extra>"
    ends = [*times, _text(until)], [*bounds, *bounds[-1:]]
    return [
        {"type": "scatter", "mode": "lines", "name": "bound", "x": ends[0], "y": ends[1]}
        | {"line": dashed, "hoverinfo": "skip"},
        {"type": "scatter", "mode": "lines+markers", "name": "value", "x": times, "y": values}
        | {"line": drawn, "marker": {"size": 5}, "text": words, "hovertemplate": hover},
    ]


def _interval(found: History, known: Sequence[Point]) -> list[dict[str, Any]]:
    """The ribbon between the bounds of what may be true, where both are known."""
    some = [p for p in known if p.row.low is not None and p.row.high is not None]
    if found.metric not in _INTERVALS or not some:
        return []
    times = [_text(point.at) for point in some]
    edge = {"type": "scatter", "mode": "lines", "x": times, "hoverinfo": "skip"}
    plain = edge | {"line": {"width": 0}}
    return [
        plain | {"y": [point.row.low for point in some], "showlegend": False},
        plain
        | {
            "y": [point.row.high for point in some],
            "name": "interval",
            "fill": "tonexty",
            "fillcolor": "--line",
        },
    ]


def _marks(found: History, known: Sequence[Point]) -> Iterator[dict[str, Any]]:
    """Publications and pushes of evidence, along the lowest value that is drawn."""
    values = [float(p.row.value or 0) for p in known] + [float(p.row.bound) for p in known]
    floor = min(values, default=0.0)
    opened = [(one.opens_at, f"publication {one.publication}") for one in found.windows]
    pushed = [(one.created_at, f"evidence, {one.new} new") for one in found.pushes]
    for name, symbol, events in (
        ("publication", "triangle-up", opened),
        ("evidence", "diamond", pushed),
    ):
        if events:
            yield {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [_text(at) for at, _ in events],
                "y": [floor] * len(events),
                "text": [words for _, words in events],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"symbol": symbol, "size": 11, "color": "--accent"},
            }


def _bands(points: Sequence[Point], until: datetime) -> Iterator[dict[str, Any]]:
    """A rectangle for each run of one verdict, up to where the next begins."""
    runs = [(verdict, list(some)) for verdict, some in groupby(points, lambda p: p.row.verdict)]
    starts = [some[0].at for _, some in runs] + [until]
    for n, (verdict, _) in enumerate(runs):
        yield {
            "type": "rect",
            "layer": "below",
            "line": {"width": 0},
            "fillcolor": _BANDS[verdict],
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "x0": _text(starts[n]),
            "x1": _text(starts[n + 1]),
        }


def _row(found: History, point: Point) -> list[Any]:
    row = point.row
    page = reverse("gates:evaluation", args=[found.slug, row.evaluation_id])
    return [
        format_html('<a href="{}">{}</a>', page, f"{point.at:%Y-%m-%d %H:%M:%S}"),
        verdict_words(row.verdict),
        wording.figure(row.metric, row.value, row.bound),
        wording.bound(row.metric, row.bound),
        wording.change(row.metric, row.margin),
        wording.between(row.metric, row.low, row.high) or "unknown",
        f"{row.n:,}",
        f"{row.evaluation.window.publication}, {row.evaluation.window.cohort}",
        _happened(point),
    ]


def _happened(point: Point) -> str:
    return f"{verdict_words(point.was)} before" if point.was else ""


def _range(found: History) -> tuple[datetime, datetime]:
    """The period; where nothing is known of its beginning, from a little before the first."""
    first = min([found.points[0].at, *(one.opens_at for one in found.windows)])
    room = max((found.period.until - first) / 20, timedelta(seconds=5))
    return max(found.period.since, first - room), found.period.until


def _text(at: datetime) -> str:
    """Plotly reads times without an offset as they are."""
    return f"{at:%Y-%m-%dT%H:%M:%S}"


def _unit(metric: Metric) -> str:
    if metric == Metric.COST:
        return "Dollars a success"
    return "Milliseconds" if metric.endswith("_ms") else str(metric.label)


def _where(segment: str) -> str:
    return f"in {segment}" if segment else "on the whole"
