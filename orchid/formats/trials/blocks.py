"""Metric blocks as GenAI-Perf and AIPerf share them: a unit, avg, pNN, min, max, std by name."""

import re
from collections.abc import Mapping
from typing import Any

from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import BadFigureError, optional
from orchid.formats.reading import Lost
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point

_STATISTIC = re.compile(r"avg|mean|median|min|max|std|sum|count|p\d{1,2}(\.\d)?")
_NAMES = {"avg": "mean", "median": "p50"}
_DISTRIBUTIONS = {
    "request_latency": Fact.COMPLETION,
    "time_to_first_token": Fact.FIRST,
    "inter_token_latency": Fact.INTER,
}
_WORDS = re.compile(r"[^a-z0-9]+")
_UNIT = re.compile(r"(.*?)\s*\(([^()]*)\)\s*")


def metric(
    unit: str, cells: Mapping[str, Any], name: str, lost: list[Lost], line: int | None = None
) -> Metric | None:
    """The statistics among the cells; one that is no figure is lost by name, alone."""
    found: dict[str, float] = {}
    for key, cell in cells.items():
        if not _STATISTIC.fullmatch(key):
            continue
        try:
            value = optional(cell, f"{name}.{key}")
        except BadFigureError as error:
            lost.append(Lost(0, str(error), line))
            continue
        if value is not None:
            found[_NAMES.get(key, key)] = value
    if not found:
        return None
    spread = any(key.startswith("p") for key in found)
    if not spread and set(found) == {"mean"}:
        found = {"value": found["mean"]}
    return Metric(unit[:40], found, Method.LINEAR if spread else Method.NONE, Clock.CLIENT)


def name_and_unit(title: str) -> tuple[str, str]:
    """`Time to First Token (ms)` to `time_to_first_token`, `ms`."""
    match = _UNIT.fullmatch(title)
    name, unit = (match.group(1), match.group(2)) if match else (title, "")
    return _WORDS.sub("_", name.lower()).strip("_")[:80], unit


def value_of(metrics: Mapping[str, Metric], name: str) -> float | None:
    """The one value, or the mean, of a metric."""
    found = metrics.get(name)
    if found is None:
        return None
    return found.statistics.get("value", found.statistics.get("mean"))


def count_of(metrics: Mapping[str, Metric], name: str) -> int | None:
    value = value_of(metrics, name)
    return None if value is None else int(value)


def point_of(metrics: dict[str, Metric], label: str, **known: Any) -> Point:
    """A point whose counts and rates are those of its metrics."""
    counts: dict[str, Any] = {
        "requests": count_of(metrics, "request_count"),
        "errors": count_of(metrics, "error_request_count"),
        "duration_s": value_of(metrics, "benchmark_duration"),
        "achieved_per_s": value_of(metrics, "request_throughput"),
    }
    return Point(label=label, metrics=metrics, **counts | known)


def told_of(metrics: Mapping[str, Metric], loop: Loop) -> dict[str, str]:
    """What these metrics tell of the trial."""
    told = {Fact.LOOP.value: loop.value} if loop else {}
    for name, fact in _DISTRIBUTIONS.items():
        found = metrics.get(name)
        if found is not None and found.method:
            told[fact.value] = f"percentiles, {found.method}"
    lengths = [value_of(metrics, f"{way}_sequence_length") for way in ("input", "output")]
    if None not in lengths:
        told[Fact.LENGTHS.value] = f"mean {lengths[0]:g} in, {lengths[1]:g} out"
    return told
