"""Recorded traffic: its rate and lengths over time, its figures, its distributions."""

import json
from collections.abc import Sequence

from controlplane.web import Column, Plot, Table
from ingest.models import ArrivalTrace
from ingest.states import TraceHolds
from ingest.trial_charts.shared import COLOURS, MOST_ROWS, number
from orchid.formats.arrivals.shape import Window


def traffic_plot(trace: ArrivalTrace, windows: Sequence[Window]) -> Plot | None:
    """Rate over time, or mean lengths over time; None for lengths without arrivals."""
    if trace.holds == TraceHolds.ARRIVALS:
        width_s = trace.rates["width_s"]
        # The trace ends inside its last step, whose mean would look like a fall of the rate.
        counts = trace.rates["counts"][:-1] or trace.rates["counts"]
        at = [place * width_s for place in range(len(counts))]
        rates = [count / width_s for count in counts]
        steps = f"{width_s:g} s; the unfinished last one is left out"
        return _over_time({"Arrivals": (at, rates)}, "Arrivals a second", steps)
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
            "line": {"color": COLOURS[place], "shape": "hv"},
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
        note=f"Each step is the mean of {width}.{cut}",
    )


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
