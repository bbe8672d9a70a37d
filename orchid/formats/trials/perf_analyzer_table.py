"""perf_analyzer's CSV report (`-f`): one row a level of load, the fastest first.

Its times are whole microseconds, cut and not rounded. Columns come and go with its options; rows
are sorted by throughput and are put in the order of their level here. A network time of 0 is a
clamp: server parts that add up to more than the whole give 0 and not a negative time.
"""

import re
from collections.abc import Callable

from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import figure, optional
from orchid.formats.tables import Table
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded

_LEVELS = {
    "concurrency": Loop.CLOSED,
    "request rate": Loop.OPEN,
    "periodic concurrency": Loop.CLOSED,
}
_NETWORK = "Network+Server Send/Recv"
_PARTS = {
    "Client Send": "client_send",
    _NETWORK: "network",
    "Server Queue": "server_queue",
    "Server Compute Input": "server_compute_input",
    "Server Compute Infer": "server_compute_infer",
    "Server Compute Output": "server_compute_output",
    "Server Cache Hit": "server_cache_hit",
    "Server Cache Miss": "server_cache_miss",
    "Client Recv": "client_recv",
    "request/response": "request_response",
    "response wait": "response_wait",
}
_THROUGHPUT = "Inferences/Second"
_RESPONSES = "Response Throughput"
_AVERAGE = "Avg latency"
_PERCENTILE = re.compile(r"p(\d{1,2}) latency")

Cell = Callable[[str], str]


def read(data: bytes, name: str = "") -> Trial:
    """One point a row; raises UnreadableError without a level, a throughput or any row."""
    known = (*_LEVELS, *_PARTS, _RESPONSES, _AVERAGE)
    table = Table(data, (_THROUGHPUT,), known)
    level = next((one for one in _LEVELS if table.has(one)), "")
    percentiles = _percentiles(table.header)
    points = table.read(lambda cell: _point(cell, level, percentiles))
    points.sort(key=lambda point: point.level or 0.0)
    return bounded(
        Trial(
            tool="perf_analyzer",
            loop=_LEVELS.get(level, Loop.UNKNOWN),
            points=points,
            lost=table.lost,
            told=_told(_LEVELS.get(level, Loop.UNKNOWN), points),
            notes=_notes(points),
            unused=table.unused - len(percentiles),
        )
    )


def _percentiles(header: tuple[str, ...]) -> dict[str, str]:
    """Column to statistic: `p95 latency` to `p95`."""
    found = ((column, _PERCENTILE.fullmatch(column)) for column in header)
    return {column: f"p{match.group(1)}" for column, match in found if match}


def _point(cell: Cell, level: str, percentiles: dict[str, str]) -> Point:
    at = optional(cell(level), level) if level else None
    rate = figure(cell(_THROUGHPUT), _THROUGHPUT)
    return Point(
        label=f"{level} {at:g}" if at is not None else "one level",
        level=at,
        offered_per_s=at if _LEVELS.get(level) is Loop.OPEN else None,
        achieved_per_s=rate,
        metrics=_latency(cell, percentiles) | _parts(cell) | _throughput(cell, rate),
    )


def _latency(cell: Cell, percentiles: dict[str, str]) -> dict[str, Metric]:
    found = {stat: optional(cell(column), column) for column, stat in percentiles.items()}
    found["mean"] = optional(cell(_AVERAGE), _AVERAGE)
    statistics = {stat: value for stat, value in found.items() if value is not None}
    if not statistics:
        return {}
    return {"request_latency": Metric("us", statistics, Method.ROUNDED_INDEX, Clock.CLIENT)}


def _parts(cell: Cell) -> dict[str, Metric]:
    """Mean times of the parts; their percentiles are not known, so no total is made of them."""
    found = {name: optional(cell(column), column) for column, name in _PARTS.items()}
    return {
        name: Metric("us", {"mean": value}, Method.NONE, Clock.CLIENT_AND_SERVER)
        for name, value in found.items()
        if value is not None
    }


def _throughput(cell: Cell, rate: float) -> dict[str, Metric]:
    metrics = {"request_throughput": Metric("inferences/s", {"value": rate}, "", Clock.CLIENT)}
    responses = optional(cell(_RESPONSES), _RESPONSES)
    if responses is not None:
        one = Metric("responses/s", {"value": responses}, "", Clock.CLIENT)
        metrics["response_throughput"] = one
    return metrics


def _told(loop: Loop, points: list[Point]) -> dict[str, str]:
    told = {Fact.LOOP: loop.value} if loop else {}
    if any("request_latency" in point.metrics for point in points):
        told[Fact.COMPLETION] = "percentiles by perf_analyzer"
    if any("server_queue" in point.metrics for point in points):
        told[Fact.DWELL] = "mean server queue by level"
    return {fact.value: text for fact, text in told.items()}


def _notes(points: list[Point]) -> list[str]:
    clamped = [p.label for p in points if _mean(p, "network") == 0]
    notes = ["Times are microseconds, cut to whole ones."]
    if clamped:
        notes.append(f"Network time is clamped to 0, not measured as 0, at {', '.join(clamped)}.")
    return notes


def _mean(point: Point, name: str) -> float | None:
    metric = point.metrics.get(name)
    return metric.statistics.get("mean") if metric else None
