"""Result tables of Triton's batching tutorial: levels of concurrency under three schedulers.

One table has throughput and p95 by concurrency; the other has one level in full, with the server's
counts: inferences over executions are the mean batch. Made with perf_analyzer, in microseconds.
"""

import re
from collections.abc import Callable

from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import figure, optional
from orchid.formats.tables import Table
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded

_NEEDED = ("case", "concurrency", "throughput_infer_per_s")
_PERCENTILE = re.compile(r"p(\d\d)_us")
_COUNTS = ("inference_count", "execution_count")
_PARTS = ("queue", "compute_input", "compute_infer", "compute_output", "overhead")
_BESIDE = ("request_batch", "max_batch", "instances", "request_count", "success_count")

Cell = Callable[[str], str]


def read(data: bytes, name: str = "") -> Trial:
    """One point a row; raises UnreadableError for another table."""
    known = (*_COUNTS, *_BESIDE, "avg_request_us", *(f"{part}_us" for part in _PARTS))
    table = Table(data, _NEEDED, known)
    percentiles = [column for column in table.header if _PERCENTILE.fullmatch(column)]
    points = table.read(lambda cell: _point(cell, percentiles))
    told = {Fact.LOOP: Loop.CLOSED.value, Fact.COMPLETION: "percentiles by perf_analyzer"}
    if any("mean_batch" in one.metrics for one in points):
        told[Fact.BATCH] = "mean batch of executions"
    return bounded(
        Trial(
            tool="perf_analyzer (Triton tutorial)",
            loop=Loop.CLOSED,
            points=points,
            lost=table.lost,
            told={fact.value: text for fact, text in told.items()},
            notes=["One request holds two inferences; throughput counts inferences."],
            unused=table.unused - len(percentiles),
        )
    )


def _point(cell: Cell, percentiles: list[str]) -> Point:
    level = figure(cell("concurrency"), "concurrency")
    rate = figure(cell("throughput_infer_per_s"), "throughput_infer_per_s")
    found = {column.removesuffix("_us"): optional(cell(column), column) for column in percentiles}
    statistics = {name: value for name, value in found.items() if value is not None}
    metrics = {"request_throughput": Metric("inferences/s", {"value": rate}, "", Clock.CLIENT)}
    if statistics:
        latency = Metric("us", statistics, Method.ROUNDED_INDEX, Clock.CLIENT)
        metrics["request_latency"] = latency
    requests = optional(cell("request_count"), "request_count", high=2**31)
    return Point(
        label=f"{cell('case')[:60].replace('_', ' ')}, concurrency {level:g}",
        level=level,
        requests=None if requests is None else int(requests),
        achieved_per_s=rate,
        metrics=metrics | _server(cell),
    )


def _server(cell: Cell) -> dict[str, Metric]:
    parts = {part: optional(cell(f"{part}_us"), f"{part}_us") for part in _PARTS}
    metrics = {
        f"server_{part}": Metric("us", {"mean": value}, Method.NONE, Clock.CLIENT_AND_SERVER)
        for part, value in parts.items()
        if value is not None
    }
    inferences, executions = (optional(cell(name), name) for name in _COUNTS)
    if inferences is not None and executions:
        mean = {"mean": inferences / executions}
        batch = Metric("inferences", mean, Method.NONE, Clock.CLIENT_AND_SERVER)
        metrics["mean_batch"] = batch
    return metrics
