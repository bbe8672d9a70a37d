"""Aggregate JSON of GenAI-Perf (`*_genai_perf.json`) and of AIPerf (`profile_export_aiperf.json`).

Times are milliseconds with percentiles by linear interpolation. The load is a concurrency (closed
loop) or a request rate (open) of the configuration that the file carries.
"""

from collections.abc import Mapping
from typing import Any

from orchid.formats.documents import document
from orchid.formats.numbers import BadFigureError, figure
from orchid.formats.reading import Lost
from orchid.formats.trials.blocks import metric, point_of, told_of
from orchid.formats.trials.shape import Loop, Metric, Trial, bounded

_AIPERF = ("benchmark_duration", "error_summary", "aiperf_version", "was_cancelled")
_BESIDE = frozenset({"input_config", "telemetry_data", "telemetry", "sessions", "inputs"})
CANCELLED = 499


def read(data: bytes, name: str = "") -> Trial:
    """One point; raises UnreadableError for another document."""
    found = document(data)
    lost: list[Lost] = []
    metrics = _metrics(found, lost)
    loop, level = _load(found.get("input_config"))
    errors, cancelled = _errors(found.get("error_summary"))
    known: dict[str, Any] = {"level": level, "cancelled": cancelled}
    if errors is not None:
        known["errors"] = errors
    if loop is Loop.OPEN:
        known["offered_per_s"] = level
    points = [point_of(metrics, _label(loop, level), **known)] if metrics else []
    return bounded(
        Trial(
            tool="AIPerf" if any(key in found for key in _AIPERF) else "GenAI-Perf",
            loop=loop,
            points=points,
            lost=lost,
            told=told_of(metrics, loop),
            notes=["The run was stopped before its end."] if found.get("was_cancelled") else [],
            model=_model(found.get("input_config")),
            unused=sum(key not in metrics and key not in _BESIDE for key in found),
            whole=found.get("was_cancelled") is not True,
        )
    )


def _metrics(found: Mapping[str, Any], lost: list[Lost]) -> dict[str, Metric]:
    blocks = {name: block for name, block in found.items() if isinstance(block, dict)}
    made = {
        name[:80]: metric(str(block["unit"]), block, name[:80], lost)
        for name, block in blocks.items()
        if name not in _BESIDE and "unit" in block
    }
    return {name: one for name, one in made.items() if one is not None}


def _load(config: Any) -> tuple[Loop, float | None]:
    """Loop and level; with both settings a rate is held back by the concurrency: not open."""
    settings = _settings(config)
    concurrency = _level(settings.get("concurrency"))
    if concurrency is not None:
        return Loop.CLOSED, concurrency
    rate = _level(settings.get("request_rate"))
    return (Loop.OPEN, rate) if rate is not None else (Loop.UNKNOWN, None)


def _settings(config: Any) -> dict[str, Any]:
    """Of AIPerf `loadgen`; of GenAI-Perf `perf_analyzer.stimulus`, or the names themselves."""
    if not isinstance(config, dict):
        return {}
    analyzer = config.get("perf_analyzer")
    inner = analyzer.get("stimulus") if isinstance(analyzer, dict) else None
    candidates = (config.get("loadgen"), inner, config)
    return next((one for one in candidates if isinstance(one, dict) and _names_load(one)), {})


def _names_load(settings: Mapping[str, Any]) -> bool:
    return any(settings.get(name) is not None for name in ("concurrency", "request_rate"))


def _level(found: Any) -> float | None:
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    try:
        return figure(found, "level")
    except BadFigureError:
        return None


def _label(loop: Loop, level: float | None) -> str:
    if level is None:
        return "run"
    return f"concurrency {level:g}" if loop is Loop.CLOSED else f"request rate {level:g}"


def _errors(summary: Any) -> tuple[int | None, int | None]:
    """Failed and cancelled requests; a cancel carries code 499."""
    if not isinstance(summary, list):
        return None, None
    counts = [_error(one) for one in summary if isinstance(one, dict)]
    cancelled = sum(count for code, count in counts if code == CANCELLED)
    return sum(count for _, count in counts) - cancelled, cancelled


def _error(one: Mapping[str, Any]) -> tuple[Any, int]:
    details, count = one.get("error_details"), one.get("count")
    code = details.get("code") if isinstance(details, dict) else None
    return code, count if isinstance(count, int) and 0 <= count < 2**31 else 0


def _model(config: Any) -> str:
    endpoint = config.get("endpoint") if isinstance(config, dict) else None
    for holder, key in ((endpoint, "model_names"), (config, "model_names"), (config, "model")):
        names = holder.get(key) if isinstance(holder, dict) else None
        names = [names] if isinstance(names, str) else names
        if isinstance(names, list) and names and all(isinstance(one, str) for one in names):
            return ", ".join(names)[:128]
    return ""
