"""Pictures of calibration: predicted beside observed, coverage beside its promise, forecasts."""

import json
import math
from collections.abc import Sequence
from typing import Any

from controlplane.web import Column, Plot, Table
from gates import calibration_words as words
from gates.selectors.calibration import Reliable
from orchid.engine.calibration.observed import BINS, Measure
from orchid.engine.calibration.standing import Standing

_COLOURS = {
    "calibrated": "--pass",
    "pad": "--fail",
    "disable": "--fail",
    "over_predicts": "--inconclusive",
    "too_few": "--line-strong",
}
#: As many shapes as a picture can name; the table has them all.
DRAWN = 24
#: Rows that a picture of the usual height takes.
ROOMY = 9
LEGEND = {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"}


def predicted_plot(rows: Sequence[Standing], measure: Measure) -> Plot:
    """Mean predicted against mean observed of each shape, with the line on which they are equal."""
    return Plot(
        element_id="predicted-observed",
        title=f"{words.LABELS[measure]}: predicted against observed",
        figure_json=json.dumps(_predicted(rows, measure), allow_nan=False),
        table=Table(
            "Predicted against observed by shape",
            (
                Column("Shape"),
                Column("Version"),
                Column("Requests", numeric=True),
                Column("Predicted", numeric=True),
                Column("Observed", numeric=True),
                Column("Median ratio", numeric=True),
                Column("Nine in ten between", numeric=True),
            ),
            [_predicted_row(row) for row in rows],
        ),
        note=_note(measure),
    )


def coverage_plot(rows: Sequence[Standing]) -> Plot:
    """The observed coverage of each shape with its exact bounds, and what was promised."""
    return Plot(
        element_id="coverage",
        title="Coverage: promised against observed",
        figure_json=json.dumps(_coverage(rows[:DRAWN]), allow_nan=False),
        table=Table(
            "Coverage by shape",
            (
                Column("Shape"),
                Column("Version"),
                Column("Requests", numeric=True),
                Column("Promised", numeric=True),
                Column("Observed", numeric=True),
                Column("Bounds at 95 %", numeric=True),
            ),
            [_coverage_row(row) for row in rows],
        ),
        note="The line of each mark reaches over the exact bounds of its share (Clopper, Pearson).",
    )


def reliability_plot(bins: Sequence[Reliable]) -> Plot:
    """Forecast against the share in time, bin by bin, with exact bounds."""
    stated = [one for one in bins if one.kind == "probability"]
    return Plot(
        element_id="reliability",
        title="In time: forecast against observed",
        figure_json=json.dumps(_reliability(bins, diagonal=bool(stated)), allow_nan=False),
        table=Table(
            "Forecasts of being in time",
            (
                Column("Forecast"),
                Column("Bin"),
                Column("Mean forecast", numeric=True),
                Column("Requests", numeric=True),
                Column("In time", numeric=True),
                Column("Bounds at 95 %", numeric=True),
            ),
            [_bin_row(one) for one in bins],
        ),
        note=(
            "A stated probability should lie on the line. A predicted time states none: its bins "
            "are the predicted completion as a part of the deadline, and the share in time says "
            "what such a prediction is worth."
        ),
    )


def log_axis(title: str, low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with a tick at 1, 2 and 5 of each decade, written out."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    return {
        "type": "log",
        "title": {"text": title},
        "tickvals": ticks,
        "ticktext": [f"{tick:,g}" for tick in ticks],
    }


def _predicted(rows: Sequence[Standing], measure: Measure) -> dict[str, Any]:
    traces = []
    for verdict in dict.fromkeys(row.found.verdict for row in rows):
        some = [row for row in rows if row.found.verdict is verdict]
        observed = [row.observed for row in some]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": verdict.replace("_", " "),
                "x": [row.predicted for row in some],
                "y": observed,
                "text": [words.shape(row.key.cell) for row in some],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [max(0.0, r.predicted * r.high - r.observed) for r in some],
                    "arrayminus": [max(0.0, r.observed - r.predicted * r.low) for r in some],
                    "thickness": 1,
                    "width": 3,
                },
                "marker": {"color": _COLOURS[verdict], "size": 9},
            }
        )
    ends = [one for row in rows for one in (row.predicted, row.observed) if one > 0] or [1.0]
    low, high = 0.7 * min(ends), 1.4 * max(ends)
    dashed = {"color": "--line-strong", "dash": "dash"}
    equal: dict[str, Any] = {"type": "line", "layer": "below", "line": dashed}
    equal |= {"x0": low, "y0": low, "x1": high, "y1": high}
    unit = words.UNITS[measure]
    return {
        "data": traces,
        "layout": {
            "xaxis": log_axis(f"Predicted, {unit}", low, high),
            "yaxis": log_axis(f"Observed, {unit}", low, high),
            "shapes": [equal],
            "showlegend": True,
            "legend": LEGEND,
        },
    }


def _coverage(rows: Sequence[Standing]) -> dict[str, Any]:
    names = [_name(row) for row in rows]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "name": "observed",
                "x": [row.found.coverage for row in rows],
                "y": names,
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [row.found.upper - row.found.coverage for row in rows],
                    "arrayminus": [row.found.coverage - row.found.lower for row in rows],
                    "color": "--line-strong",
                    "thickness": 1.5,
                    "width": 4,
                },
                "marker": {"color": [_COLOURS[row.found.verdict] for row in rows], "size": 9},
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": "promised",
                "x": [row.promise.nominal for row in rows],
                "y": names,
                "marker": {"color": "--ink", "symbol": "line-ns-open", "size": 14},
            },
        ],
        "layout": {
            **({"height": 140 + 30 * len(rows)} if len(rows) > ROOMY else {}),
            "xaxis": {"title": {"text": "Share within the prediction"}, "tickformat": ".0%"},
            "yaxis": {"autorange": "reversed", "type": "category"},
            "showlegend": True,
            "legend": {**LEGEND, "y": 1.02},
        },
    }


def _reliability(bins: Sequence[Reliable], *, diagonal: bool) -> dict[str, Any]:
    traces = []
    for kind in dict.fromkeys(one.kind for one in bins):
        some = [one for one in bins if one.kind == kind]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers+lines",
                "name": _KINDS[kind],
                "x": [one.predicted for one in some],
                "y": [one.observed for one in some],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [one.high - one.observed for one in some],
                    "arrayminus": [one.observed - one.low for one in some],
                    "thickness": 1.5,
                    "width": 4,
                },
                "marker": {"color": "--accent" if kind == "probability" else "--ink-muted"},
                "line": {"color": "--accent" if kind == "probability" else "--line-strong"},
            }
        )
    dashed = {"color": "--line-strong", "dash": "dash"}
    equal = {"type": "line", "layer": "below", "line": dashed, "x0": 0, "y0": 0, "x1": 1, "y1": 1}
    return {
        "data": traces,
        "layout": {
            "xaxis": {"title": {"text": "Forecast"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "Share in time"}, "tickformat": ".0%", "range": [0, 1.05]},
            "shapes": [equal] if diagonal else [],
            "showlegend": True,
            "legend": LEGEND,
        },
    }


_KINDS = {"probability": "stated probability", "time": "predicted part of the deadline"}


def _note(measure: Measure) -> str:
    if measure is Measure.WORK:
        return (
            "A TEU is worth the accelerator time that it takes at the median of all requests; the "
            "price of a shape is right where its work lies on the line. Bars hold nine in ten."
        )
    if measure.is_bound:
        return (
            "A reservation is for the most that may happen, so points belong on or under the line. "
            "Bars hold nine in ten."
        )
    return "Points belong on the line. Bars hold nine in ten."


def _predicted_row(row: Standing) -> tuple[str, ...]:
    return (
        words.shape(row.key.cell),
        words.version(row.key.version),
        f"{row.found.n:,}",
        words.amount(row.predicted),
        words.amount(row.observed),
        words.ratio(1 + row.found.bias),
        f"{words.ratio(row.low)} and {words.ratio(row.high)}",
    )


def _coverage_row(row: Standing) -> tuple[str, ...]:
    found = row.found
    return (
        words.shape(row.key.cell),
        words.version(row.key.version),
        f"{found.n:,}",
        words.share(row.promise.nominal),
        words.share(found.coverage),
        f"{words.share(found.lower)} to {words.share(found.upper)}",
    )


def _bin_row(one: Reliable) -> tuple[str, ...]:
    low, last = one.bin / BINS, one.bin == BINS - 1
    return (
        _KINDS[one.kind],
        f"{low:.1f} and more" if last else f"{low:.1f} to {low + 1 / BINS:.1f}",
        f"{one.predicted:.2f}",
        f"{one.n:,}",
        words.share(one.observed),
        f"{words.share(one.low)} to {words.share(one.high)}",
    )


def _name(row: Standing) -> str:
    version = words.version(row.key.version)
    return f"{words.shape(row.key.cell)} ({version})" if version else words.shape(row.key.cell)
