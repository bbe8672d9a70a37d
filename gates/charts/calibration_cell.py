"""Pictures of one cell: how its ratios are spread, and how they moved from day to day."""

import json
from collections.abc import Sequence
from typing import Any

from controlplane.web import Column, Plot, Table
from gates import calibration_words as words
from gates.charts.calibration import LEGEND, log_axis
from gates.models import CalibrationCell
from gates.selectors.calibration import sum_of
from orchid.engine.calibration.ratios import SummedRatios
from orchid.engine.calibration.standing import Standing


def ratios_plot(rows: Sequence[Standing], sums: Sequence[CalibrationCell]) -> Plot:
    """The distribution of observed over predicted in one cell, a step line for each version."""
    return Plot(
        element_id="ratios",
        title="Observed over predicted",
        figure_json=json.dumps(_ratios(rows, sums), allow_nan=False),
        table=Table(
            "Observed over predicted by version",
            (Column("Version"), *(Column(name, numeric=True) for name in ("5 %", "50 %", "95 %"))),
            [
                (
                    words.version(r.key.version),
                    words.ratio(r.low),
                    words.ratio(1 + r.found.bias),
                    words.ratio(r.high),
                )
                for r in rows
            ],
        ),
    )


def days_plot(days: Sequence[CalibrationCell], unit: float) -> Plot:
    """The median ratio of one cell day by day, with its middle nine tenths."""
    found = [(day, SummedRatios(sum_of(day).ratios, unit)) for day in days]
    return Plot(
        element_id="days",
        title="Observed over predicted by day",
        figure_json=json.dumps(_by_day(found), allow_nan=False),
        table=Table(
            "Observed over predicted by day",
            (
                Column("Day"),
                Column("Version"),
                *(Column(name, numeric=True) for name in ("Requests", "5 %", "50 %", "95 %")),
            ),
            [
                (
                    str(day.day),
                    words.version(day.version),
                    f"{day.n:,}",
                    *map(words.ratio, _three(seen)),
                )
                for day, seen in found
            ],
        ),
    )


def _ratios(rows: Sequence[Standing], sums: Sequence[CalibrationCell]) -> dict[str, Any]:
    traces = []
    for row in rows:
        counts: dict[int, int] = {}
        for day in sums:
            if day.version == row.key.version:
                for bucket, count in sum_of(day).ratios.items():
                    counts[bucket] = counts.get(bucket, 0) + count
        x, y = SummedRatios(counts, row.unit).steps()
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": words.version(row.key.version),
                "x": x,
                "y": y,
                "line": {"shape": "hv"},
            }
        )
    dashed = {"color": "--line-strong", "dash": "dash"}
    at_one = {"type": "line", "layer": "below", "line": dashed, "x0": 1, "x1": 1, "y0": 0, "y1": 1}
    return {
        "data": traces,
        "layout": {
            "xaxis": log_axis("Observed over predicted", 0.01, 100),
            "yaxis": {"title": {"text": "Share at or under it"}, "tickformat": ".0%"},
            "shapes": [at_one],
            "showlegend": True,
            "legend": LEGEND,
        },
    }


def _by_day(found: Sequence[tuple[CalibrationCell, SummedRatios]]) -> dict[str, Any]:
    traces = []
    for version in dict.fromkeys(day.version for day, _ in found):
        some = [(day, seen) for day, seen in found if day.version == version]
        three = [_three(seen) for _, seen in some]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words.version(version),
                "x": [str(day.day) for day, _ in some],
                "y": [middle for _, middle, _ in three],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [high - middle for _, middle, high in three],
                    "arrayminus": [middle - low for low, middle, _ in three],
                    "thickness": 1,
                    "width": 3,
                },
            }
        )
    dashed = {"color": "--line-strong", "dash": "dash"}
    even = {"type": "line", "layer": "below", "line": dashed, "y0": 1, "y1": 1}
    return {
        "data": traces,
        "layout": {
            "xaxis": {"title": {"text": "Day"}, "type": "category"},
            "yaxis": {"title": {"text": "Observed over predicted"}, "rangemode": "tozero"},
            "shapes": [{**even, "xref": "paper", "x0": 0, "x1": 1}],
            "showlegend": True,
            "legend": LEGEND,
        },
    }


def _three(seen: SummedRatios) -> tuple[float, float, float]:
    low, high = max(1, round(0.05 * seen.n)), max(1, round(0.95 * seen.n))
    return seen.nth(low), seen.median, seen.nth(high)
