"""An engine's own counters, as increases over the samples that came in.

Counters hide what the caller sees: an error of a model counts as answered, a request refused at
the full queue counts nowhere. They serve as a check beside attempts, never as a population.
"""

from collections import defaultdict
from dataclasses import dataclass

from ingest.models import CounterSample
from orchid.formats.prometheus import Increase, increase
from policies.models import Product

NANOSECONDS, MICROSECONDS = 1e6, 1e3  # of a millisecond

_STATISTICS = {
    "answered": ("success_count",),
    "failed": ("fail_count",),
    "executions": ("execution_count",),
    "computed": ("compute_infer_count",),
}
_METRICS = {
    "answered": ("nv_inference_request_success",),
    "failed": tuple(
        f"nv_inference_request_failure:{reason}"
        for reason in ("REJECTED", "CANCELED", "BACKEND", "OTHER")
    ),
    "executions": ("nv_inference_exec_count",),
    "computed": ("nv_inference_count",),
}


@dataclass(frozen=True)
class EngineFigures:
    """What one model did between the first and the last sample; means in milliseconds a request.

    None where no request was counted, which is not 0.
    """

    model: str
    answered: int
    failed: int
    executions: int
    queue_ms: float | None
    compute_ms: float | None
    resets: int


def engine_figures(product: Product, source_pk: int) -> list[EngineFigures]:
    """Increases of every model behind a statistics or metrics source."""
    samples = CounterSample.objects.filter(source_id=source_pk, source__product=product)
    series: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    rows = samples.order_by("batch_id").values_list("model", "name", "value")
    for model, name, value in rows:
        series[model][name].append(value)
    return [_figures(model, series[model]) for model in sorted(series)]


def _figures(model: str, values: dict[str, list[float]]) -> EngineFigures:
    grown = {name: increase(found) for name, found in values.items()}
    names = _STATISTICS if "success_count" in grown else _METRICS
    counts = {what: int(_total(grown, *parts)) for what, parts in names.items()}
    return EngineFigures(
        model,
        counts["answered"],
        counts["failed"],
        counts["executions"],
        _mean(_queue_ms(grown), counts["answered"]),
        _mean(_compute_ms(grown), counts["computed"]),
        max((one.resets for one in grown.values()), default=0),
    )


def _total(grown: dict[str, Increase], *names: str) -> float:
    return sum(grown[name].value for name in names if name in grown)


def _queue_ms(grown: dict[str, Increase]) -> float | None:
    return _duration_ms(grown, "queue")


def _compute_ms(grown: dict[str, Increase]) -> float | None:
    parts = [
        _duration_ms(grown, part) for part in ("compute_input", "compute_infer", "compute_output")
    ]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _duration_ms(grown: dict[str, Increase], phase: str) -> float | None:
    """Statistics count nanoseconds, metrics microseconds."""
    units = ((f"{phase}_ns", NANOSECONDS), (f"nv_inference_{phase}_duration_us", MICROSECONDS))
    for name, per_ms in units:
        if name in grown:
            return grown[name].value / per_ms
    return None


def _mean(total_ms: float | None, count: int) -> float | None:
    return None if total_ms is None or not count else round(total_ms / count, 3)
