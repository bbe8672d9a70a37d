"""Every metric of a trial with its unit, method and clock, and of a run by each of its files."""

from collections.abc import Sequence
from typing import Any

from controlplane.figures import UNKNOWN
from controlplane.web import Column, Table
from ingest.models import Trial
from ingest.trial_charts.shared import MOST_ROWS, View, number


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


def _statistics(metric: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in metric["statistics"].items())
