"""Samples of an engine's state during a run: throughput, running and waiting requests, cache use.

Three writers: a vLLM time series once a second (`t`), BurstGPT's vLLM log about twice a second
(`timestamp`, of a monotonic clock), and gateway samples of Alibaba's GenTD26 (`timestamp_anon`,
not sorted by time; whether the value is milliseconds or tasks only the file's name says).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orchid.engine.sample import described
from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import figure
from orchid.formats.tables import Table
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded


@dataclass(frozen=True, slots=True)
class Layout:
    """The column of time and the sampled ones with their units."""

    tool: str
    time: str
    units: Mapping[str, str]
    beside: tuple[str, ...] = ()


LAYOUTS = (
    Layout(
        "vLLM time series",
        "t",
        {
            "prompt_throughput": "tokens/s",
            "gen_throughput": "tokens/s",
            "running": "requests",
            "waiting": "requests",
            "kv_cache_pct": "percent",
        },
    ),
    Layout(
        "BurstGPT engine log",
        "timestamp",
        {
            "prompt_throughput": "tokens/s",
            "generation_throughput": "tokens/s",
            "num_running": "requests",
            "num_swapped": "requests",
            "num_pending": "requests",
            "gpu_kvcache_usage": "percent",
            "cpu_kvcache_usage": "percent",
        },
    ),
    Layout("Gateway samples", "timestamp_anon", {"value": ""}, ("container",)),
)

Cell = Callable[[str], str]


def layout_of(columns: tuple[str, ...]) -> Layout | None:
    held = {one.lower() for one in columns}
    return next((one for one in LAYOUTS if {one.time, *one.units} <= held), None)


def read(data: bytes, name: str = "") -> Trial:
    """One point of all samples; raises UnreadableError for another table."""
    layout = layout_of(Table(data, ()).header) or LAYOUTS[0]
    table = Table(data, (layout.time, *layout.units), layout.beside)
    rows = table.read(lambda cell: _sample(cell, layout))
    points = [_point(rows, layout, name)] if rows else []
    return bounded(
        Trial(
            tool=layout.tool,
            loop=Loop.UNKNOWN,
            points=points,
            lost=table.lost,
            told=_told(layout),
            notes=[f"{len(rows)} samples of the engine's state; it tells of no single request."],
            unused=table.unused,
        )
    )


def _sample(cell: Cell, layout: Layout) -> tuple[float, ...]:
    return tuple(figure(cell(name), name) for name in (layout.time, *layout.units))


def _point(rows: list[tuple[float, ...]], layout: Layout, name: str) -> Point:
    columns = list(zip(*rows, strict=True))
    metrics = {
        sampled: Metric(unit or _unit(name), described(column), Method.INVERTED_CDF, Clock.SAMPLED)
        for (sampled, unit), column in zip(layout.units.items(), columns[1:], strict=True)
    }
    duration_s = max(columns[0]) - min(columns[0])
    return Point(label="run", duration_s=duration_s, ours=metrics)


def _unit(name: str) -> str:
    """Of the gateway's samples: milliseconds of a response time, tasks of a queue."""
    if "queue_size" in name:
        return "tasks"
    return "ms" if "queue_rt" in name or "pipeline" in name else "not told"


def _told(layout: Layout) -> dict[str, str]:
    waiting = {"waiting", "num_pending"} & layout.units.keys()
    return {Fact.DWELL.value: f"{waiting.pop()}, sampled"} if waiting else {}
