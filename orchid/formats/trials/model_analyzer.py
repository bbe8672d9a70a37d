"""Model Analyzer's tables of inference (`*-model-inference.csv`) and devices (`*-model-gpu.csv`).

perf_analyzer runs under it: closed loop, its percentile index. With several models at once a cell
holds a total and a value for each model: `421.0, [184.5,236.5]`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import figure, optional
from orchid.formats.reading import UnreadableError
from orchid.formats.tables import Table
from orchid.formats.trials.blocks import name_and_unit
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded

_NEEDED = ("Model", "Batch", "Concurrency", "Model Config Path")
_THROUGHPUT = "Throughput (infer/sec)"
_BESIDE = ("GPU UUID", "Instance Group", "Max Batch Size", "Satisfies Constraints")
_TOTAL = re.compile(r"\s*([^\[\],]+?)\s*(?:,\s*\[(.*)\])?\s*")
_PERCENTILE = re.compile(r"p(\d{1,2})_latency")

Cell = Callable[[str], str]


def read(data: bytes, name: str = "") -> Trial:
    """One point a row; raises UnreadableError for another table."""
    table = Table(data, _NEEDED, _BESIDE)
    columns = [one for one in table.header if "(" in one]
    if not columns:
        raise UnreadableError("expected columns with units such as Throughput (infer/sec)")
    rows = table.read(lambda cell: _point(cell, columns))
    points = sorted((row.point for row in rows), key=lambda one: one.level or 0.0)
    batches = sorted({row.batch for row in rows})
    return bounded(
        Trial(
            tool="Model Analyzer",
            loop=Loop.CLOSED,
            points=points,
            lost=table.lost,
            told=_told(points, batches),
            notes=_notes(points),
            model=rows[0].model if rows else "",
            unused=table.unused - len(columns),
        )
    )


@dataclass(frozen=True, slots=True)
class _Row:
    model: str
    batch: str
    point: Point


def _point(cell: Cell, columns: list[str]) -> _Row:
    levels = [figure(one, "Concurrency") for one in cell("Concurrency").split(",")]
    metrics: dict[str, Metric] = {}
    for column in columns:
        name, made = _metric(column, cell(column))
        if made is not None:
            metrics[name] = _merged(metrics.get(name), made)
    rate = metrics.get("throughput")
    made_point = Point(
        label=f"{cell('Model Config Path')[:96]}, concurrency {cell('Concurrency')[:24]}",
        level=levels[0] if len(levels) == 1 else None,
        achieved_per_s=rate.statistics["value"] if rate else None,
        metrics=metrics,
    )
    return _Row(cell("Model")[:128], cell("Batch")[:24], made_point)


def _metric(column: str, text: str) -> tuple[str, Metric | None]:
    name, unit = name_and_unit(column)
    percentile = _PERCENTILE.fullmatch(name)
    statistic = f"p{percentile.group(1)}" if percentile else "value"
    total, each = _cell(text, column)
    if total is None:
        return name, None
    statistics = {statistic: total}
    statistics |= {f"{statistic} of model {at}": one for at, one in enumerate(each, 1)}
    if not percentile:
        clock = Clock.SAMPLED if name.startswith("gpu_") else Clock.CLIENT
        return name, Metric(unit, statistics, Method.NONE, clock)
    return "request_latency", Metric(unit, statistics, Method.ROUNDED_INDEX, Clock.CLIENT)


def _cell(text: str, column: str) -> tuple[float | None, list[float]]:
    match = _TOTAL.fullmatch(text)
    if match is None:
        return optional(text, column), []
    each = match.group(2).split(",") if match.group(2) else []
    return optional(match.group(1), column), [figure(one, column) for one in each]


def _merged(known: Metric | None, found: Metric) -> Metric:
    if known is None:
        return found
    return Metric(found.unit, known.statistics | found.statistics, found.method, found.clock)


def _told(points: list[Point], batches: list[str]) -> dict[str, str]:
    told = {Fact.LOOP: Loop.CLOSED.value, Fact.BATCH: ", ".join(batches)[:96]}
    if any("request_latency" in one.metrics for one in points):
        told[Fact.COMPLETION] = "percentiles by perf_analyzer"
    return {fact.value: text for fact, text in told.items()}


def _notes(points: list[Point]) -> list[str]:
    several = any(len(metric.statistics) > 2 for one in points for metric in one.metrics.values())
    if not several:
        return []
    return ["Several models ran at once: a total stands before the value of each model."]
