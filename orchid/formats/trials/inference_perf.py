"""inference-perf's reports: one stage a file, told twice, by the client and by Prometheus.

`stage_N_lifecycle_metrics.json` has what the client measured, in seconds, with percentiles by
linear interpolation. `stage_N_prometheus_metrics.json` has the same stage as the server's
histograms tell it, over a window that also holds what ran before and after. The two disagree, and
both are kept. Which stage it is only the file's name says.
"""

import re
from collections.abc import Mapping
from typing import Any

from orchid.engine.trial_evidence import Fact
from orchid.formats.documents import document
from orchid.formats.numbers import BadFigureError, figure
from orchid.formats.reading import Lost, UnreadableError
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded

_STATISTIC = re.compile(r"mean|median|min|max|rate|p\d{1,2}(\.\d)?")
_NAMES = {"median": "p50"}
_STAGE = re.compile(r"stage_(\d{1,4})_")
_SERVER = {
    "request_latency": "s",
    "time_to_first_token": "s",
    "time_per_output_token": "s",
    "inter_token_latency": "s",
    "prompt_len": "tokens",
    "output_len": "tokens",
    "queue_len": "requests",
    "kv_cache_usage_percentage": "share",
    "num_requests_swapped": "requests",
    "num_preemptions_total": "preemptions",
    "prefix_cache_hit_percent": "percent",
}
_COMMON = {"prompt_len": "input_sequence_length", "output_len": "output_sequence_length"}
_RATES = {
    "input_tokens_per_sec": "tokens/s",
    "output_tokens_per_sec": "tokens/s",
    "total_tokens_per_sec": "tokens/s",
    "requests_per_sec": "requests/s",
}


def read(data: bytes, name: str = "") -> Trial:
    """One point; raises UnreadableError for another document."""
    found = document(data)
    load, good = _part(found, "load_summary"), _part(found, "successes")
    if not good:
        raise UnreadableError("expected an object successes")
    lost: list[Lost] = []
    seen_by_client = "latency" in good
    metrics = _client(load, good, lost) if seen_by_client else _server(good, lost)
    made = _point(found, load, good, metrics, _label(name), lost)
    return bounded(
        Trial(
            tool="inference-perf",
            loop=Loop.OPEN if "requested_rate" in load else Loop.UNKNOWN,
            points=[made],
            lost=lost,
            told=_told(load, metrics, made),
            notes=_notes(load, made, seen_by_client),
        )
    )


def _part(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}


def _label(name: str) -> str:
    match = _STAGE.search(name)
    if match:
        return f"stage {int(match.group(1))}"
    return "all stages" if "summary" in name else "stage not named"


def _client(
    load: Mapping[str, Any], good: Mapping[str, Any], lost: list[Lost]
) -> dict[str, Metric]:
    blocks = {
        **{name: ("s", block) for name, block in _part(good, "latency").items()},
        **{common: ("tokens", good.get(name)) for name, common in _COMMON.items()},
    }
    made = {
        name: _metric(block, unit, name, Method.LINEAR, Clock.CLIENT, lost)
        for name, (unit, block) in blocks.items()
    }
    # A request may be sent a little early, so this alone may lie below 0.
    delay = load.get("schedule_delay")
    made["schedule_delay"] = _metric(
        delay, "s", "schedule_delay", Method.LINEAR, Clock.CLIENT, lost, low=-3600.0
    )
    throughput = _part(good, "throughput")
    for name, unit in _RATES.items():
        value = _figure(throughput.get(name), name, lost)
        if value is not None:
            made[name] = Metric(unit, {"value": value}, Method.NONE, Clock.CLIENT)
    return {name: metric for name, metric in made.items() if metric is not None}


def _server(good: Mapping[str, Any], lost: list[Lost]) -> dict[str, Metric]:
    made = {
        _COMMON.get(name, name): _metric(
            good.get(name), unit, name, Method.BUCKETS, Clock.SCRAPED, lost
        )
        for name, unit in _SERVER.items()
    }
    return {name: metric for name, metric in made.items() if metric is not None}


def _metric(
    block: Any, unit: str, name: str, method: str, clock: str, lost: list[Lost], low: float = 0.0
) -> Metric | None:
    if not isinstance(block, dict):
        return None
    kept = {key: value for key, value in block.items() if _STATISTIC.fullmatch(key)}
    read = {key: _figure(value, f"{name}.{key}", lost, low) for key, value in kept.items()}
    found = {_NAMES.get(key, key): value for key, value in read.items() if value is not None}
    if not found:
        return None
    spread = any(key.startswith("p") for key in found)
    return Metric(unit, found, method if spread else Method.NONE, clock)


def _figure(found: Any, name: str, lost: list[Lost], low: float = 0.0) -> float | None:
    if found is None:
        return None
    try:
        return figure(found, name, low=low)
    except BadFigureError as error:
        lost.append(Lost(0, str(error)))
        return None


def _point(
    found: Mapping[str, Any],
    load: Mapping[str, Any],
    good: Mapping[str, Any],
    metrics: dict[str, Metric],
    label: str,
    lost: list[Lost],
) -> Point:
    asked = _figure(load.get("requested_rate"), "requested_rate", lost)
    rate = _part(good, "throughput").get("requests_per_sec", good.get("rate"))
    answered = _count(good.get("count"), lost)
    failed = _count(_part(found, "failures").get("count"), lost)
    return Point(
        label=label,
        level=asked,
        requests=None if answered is None else answered + (failed or 0),
        errors=failed,
        duration_s=_figure(load.get("send_duration"), "send_duration", lost),
        offered_per_s=asked,
        achieved_per_s=_figure(rate, "requests_per_sec", lost),
        metrics=metrics,
    )


def _count(found: Any, lost: list[Lost]) -> int | None:
    value = _figure(found, "count", lost)
    return None if value is None else int(value)


def _told(load: Mapping[str, Any], metrics: Mapping[str, Metric], made: Point) -> dict[str, str]:
    told: dict[Fact, str] = {}
    if "requested_rate" in load:
        told[Fact.LOOP] = Loop.OPEN
    facts = {
        "request_latency": Fact.COMPLETION,
        "time_to_first_token": Fact.FIRST,
        "inter_token_latency": Fact.INTER,
        "queue_len": Fact.DWELL,
        "num_preemptions_total": Fact.PREEMPTION,
    }
    for name, fact in facts.items():
        if name in metrics:
            told[fact] = f"{name}, {metrics[name].clock}"
    if {"input_sequence_length", "output_sequence_length"} <= metrics.keys():
        told[Fact.LENGTHS] = "prompt and output lengths"
    return {fact.value: text for fact, text in told.items()}


def _notes(load: Mapping[str, Any], made: Point, seen_by_client: bool) -> list[str]:
    if not seen_by_client:
        return [
            "As the server's histograms tell it, over a window that may hold other requests too."
        ]
    sent = load.get("achieved_rate")
    asked = made.offered_per_s
    if isinstance(sent, int | float) and asked and sent < 0.95 * asked:
        return [f"The client fell behind: it sent {sent:.2f} of {asked:g} requests/s asked for."]
    return []
