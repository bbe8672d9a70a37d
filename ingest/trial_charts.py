"""Pictures and tables of trials and of recorded traffic: pure functions of stored rows."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from controlplane.figures import UNKNOWN, decimals
from controlplane.web import Column, Plot, Table
from ingest.models import ArrivalTrace, Trial
from ingest.states import TraceHolds
from orchid.formats.arrivals.shape import Window

LATENCY = "request_latency"
SHOWN = ("p50", "p95", "p99")
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_COLOURS = ("--accent", "--inconclusive", "--pass", "--fail")
_DASHES = {"p50": "dot", "p95": "solid", "p99": "dash"}
#: Rows of a table of every metric; the API has the rest.
MOST_ROWS = 400

Point = dict[str, Any]


@dataclass(frozen=True)
class View:
    """A trial's points as one writer tells them: the tool itself, or we from single requests."""

    trial: Trial
    ours: bool

    @property
    def key(self) -> str:
        return "ours" if self.ours else "metrics"

    @property
    def name(self) -> str:
        whose = "computed here" if self.ours else self.trial.tool
        clocks = sorted({m["clock"] for p in self.trial.points for m in p[self.key].values()})
        return f"{whose}, {clocks[0]}" if clocks else whose

    def metric(self, point: Point, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = point[self.key].get(name)
        return found


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
        for trace in _lines(name, points, _COLOURS[number % len(_COLOURS)])
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
        held = [(p, _latency_ms(view, p, statistic)) for view, p in ordered]
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
    latencies = [_latency_ms(view, point, statistic) for statistic in SHOWN]
    return [
        point["label"],
        view.name,
        *(UNKNOWN if one is None else f"{one:,}" for one in counts),
        *(number(one) for one in rates),
        *(number(one) for one in latencies),
    ]


def metrics_table(trial: Trial) -> Table:
    """Every metric of every point with its unit, method and clock."""
    columns = tuple(Column(name) for name in ("Metric", "Point", "Told by", "Unit", "Statistics"))
    rows = [
        [name.replace("_", " "), point["label"], teller, one["unit"] or "none", _statistics(one)]
        for point in trial.points
        for key, teller in (("metrics", trial.tool), ("ours", "computed here"))
        for name, one in point[key].items()
    ]
    return Table("Every metric", columns, rows[:MOST_ROWS])


def methods_table(trial: Trial) -> Table:
    """Which percentile method and clock each metric has, once a metric and teller."""
    found = {
        (name, teller): (one["method"] or "no percentiles", one["clock"])
        for point in trial.points
        for key, teller in (("metrics", trial.tool), ("ours", "computed here"))
        for name, one in point[key].items()
    }
    columns = tuple(Column(name) for name in ("Metric", "Told by", "Percentiles", "Clock"))
    rows = [
        [name.replace("_", " "), teller, method, clock]
        for (name, teller), (method, clock) in found.items()
    ]
    return Table("Method and clock of each metric", columns, rows[:MOST_ROWS])


def side_by_side(run: Sequence[Trial]) -> Table | None:
    """Metrics that two files of a run tell of the same point, beside one another; else None."""
    views = [View(trial, False) for trial in run]
    tellers = list(dict.fromkeys(view.name for view in views))
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for view in views:
        for point in view.trial.points:
            for name, one in point["metrics"].items():
                for statistic in ("mean", "p50", "p90", "p99"):
                    if statistic in one["statistics"]:
                        key = (point["label"], name, statistic)
                        told = f"{number(one['statistics'][statistic])} {one['unit']}"
                        cells.setdefault(key, {})[view.name] = told
    shared = {key: told for key, told in cells.items() if len(told) > 1}
    if not shared:
        return None
    columns = (
        *(Column(name) for name in ("Point", "Metric", "Statistic")),
        *(Column(name, numeric=True) for name in tellers),
    )
    rows = [
        [label, name.replace("_", " "), statistic, *(told.get(one, UNKNOWN) for one in tellers)]
        for (label, name, statistic), told in shared.items()
    ]
    return Table("The same run as each file tells it", columns, rows[:MOST_ROWS])


def traffic_plot(trace: ArrivalTrace, windows: Sequence[Window]) -> Plot | None:
    """Rate over time, or mean lengths over time; None for lengths without arrivals."""
    if trace.holds == TraceHolds.ARRIVALS:
        width_s = trace.rates["width_s"]
        at = [place * width_s for place in range(len(trace.rates["counts"]))]
        rates = [count / width_s for count in trace.rates["counts"]]
        return _over_time({"Arrivals": (at, rates)}, "Arrivals a second", f"{width_s:g} s")
    if trace.holds == TraceHolds.RATES:
        starts = [window.start_s for window in windows]
        lines = {"Rate": (starts, [window.rate_per_s or 0.0 for window in windows])}
        return _over_time(lines, "Requests a second", "each window of the model")
    if trace.holds == TraceHolds.DISTRIBUTIONS:
        return _over_time(_mean_lengths(windows), "Mean tokens", "each window of the model")
    return None


def _mean_lengths(windows: Sequence[Window]) -> dict[str, tuple[list[float], list[float]]]:
    filled = [window for window in windows if window.input_tokens and window.output_tokens]
    starts = [window.start_s for window in filled]
    means = {
        name: [sum(length * share for length, share in one.items()) for one in distributions]
        for name, distributions in (
            ("In", [window.input_tokens for window in filled]),
            ("Out", [window.output_tokens for window in filled]),
        )
    }
    return {name: (starts, values) for name, values in means.items()}


def _over_time(lines: dict[str, tuple[list[float], list[float]]], title: str, width: str) -> Plot:
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": at,
            "y": values,
            "line": {"color": _COLOURS[place], "shape": "hv"},
            "hovertemplate": "%{x:.6g} s<br>%{y:.4g}<extra></extra>",
        }
        for place, (name, (at, values)) in enumerate(lines.items())
    ]
    layout = {
        "xaxis": {"title": {"text": "Seconds from the start"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": title}, "rangemode": "tozero"},
        "showlegend": len(lines) > 1,
    }
    columns = (
        Column("From, s", numeric=True),
        *(Column(f"{title}, {name.lower()}", numeric=True) for name in lines),
    )
    at = next(iter(lines.values()))[0]
    values = [one[1] for one in lines.values()]
    rows = [
        [number(start), *(number(column[place]) for column in values)]
        for place, start in enumerate(at[:MOST_ROWS])
    ]
    cut = f" The table has the first {MOST_ROWS} of {len(at)}." if len(at) > MOST_ROWS else ""
    return Plot(
        element_id="traffic",
        title=f"{title} over time",
        figure_json=json.dumps({"data": data, "layout": layout}, allow_nan=False),
        table=Table(f"{title} over time", columns, rows),
        note=f"By {width}.{cut}",
    )


def number(value: float | None) -> str:
    """Four figures or so: what a trial measures is no more exact."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    places = 0 if size >= 1000 or value == int(value) else 1 if size >= 100 else 3
    if 0 < size < 0.01:
        return f"{value:.3g}"
    return decimals(Decimal(repr(value)), places)


def _latency_ms(view: View, point: Point, statistic: str) -> float | None:
    metric = view.metric(point, LATENCY)
    if metric is None or statistic not in metric["statistics"] or metric["unit"] not in _MS:
        return None
    return float(metric["statistics"][statistic]) * _MS[metric["unit"]]


def _statistics(metric: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in metric["statistics"].items())


def traffic_facts(trace: ArrivalTrace) -> list[tuple[str, str]]:
    """Single figures of a trace with their names; those that it can't have are left out."""
    held = trace.statistics
    named = [
        ("Duration", "duration_s", " s"),
        ("Mean rate", "rate_per_s", " a second"),
        ("Peak in one second", "peak_in_1s", " arrivals"),
        ("Variation of the gaps (CV)", "gap_cv", ""),
        ("Gaps of 0", "zero_gaps", ""),
        ("Longest gap", "longest_gap_s", " s"),
        ("Without an answer", "failed", ""),
        ("Shared blocks of prompts", "prefix_blocks", ""),
        ("In against out, Pearson", "pearson", ""),
        ("In against out, Spearman", "spearman", ""),
        ("Windows", "windows", ""),
        ("Windows with traffic", "busy_windows", ""),
        ("Windows with lengths", "filled_windows", ""),
        ("Width of a window", "window_s", " s"),
    ]
    facts = [
        (label, f"{number(held[name])}{unit}")
        for label, name, unit in named
        if held.get(name) is not None
    ]
    if held.get("families"):
        facts.append(("Families of the gaps", ", ".join(held["families"])))
    return facts


def lengths_table(trace: ArrivalTrace) -> Table:
    """Quantities with a distribution: lengths, rates of windows, how late a driver sent."""
    names = ("count", "mean", "min", "p50", "p90", "p95", "p99", "max")
    units = trace.units or ["tokens", "tokens"]
    quantities = [
        ("input", f"In, {units[0]}"),
        ("output", f"Out, {units[1]}"),
        ("late_ms", "Sent late, ms"),
        ("rate", "Rate of a window, a second"),
        ("mean_input", "Mean in of a window, tokens"),
        ("mean_output", "Mean out of a window, tokens"),
    ]
    rows = [
        [label, *(number(trace.statistics[name].get(one)) for one in names)]
        for name, label in quantities
        if trace.statistics.get(name)
    ]
    columns = (Column("Quantity"), *(Column(name, numeric=True) for name in names))
    return Table("Distributions by the inverted CDF (nearest rank)", columns, rows)
