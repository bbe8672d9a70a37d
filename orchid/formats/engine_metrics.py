"""What engines say in Prometheus text and statistics, as figures with their own unit.

Triton mixes microseconds, milliseconds and seconds, and some of its histograms have no `_bucket`
suffix; vLLM gives 0..1 under names that end in `_perc`, and -1 for a rate that it does not measure.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from orchid.formats.prometheus import Sample
from orchid.formats.triton_statistics import ModelStatistics

#: Families that say how the engine or its Python process is doing, beside those with a model label.
FAMILIES = ("nv_", "vllm:", "process_start_time_seconds")
#: Labels that name the model and its version, by engine.
MODEL_LABELS = ("model", "model_name")
#: Bytes, seconds and shares by the end of a name, the longest first. Everything else is a count.
_UNITS = (
    ("_per_second", "1/s"),
    ("_seconds_total", "s"),
    ("_seconds", "s"),
    ("_secs", "s"),
    ("_duration_per_model", "us"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_bytes", "bytes"),
    ("_perc", "share"),
    ("_utilization", "share"),
    ("_hit_rate", "share"),
    ("_power_usage", "W"),
    ("_power_limit", "W"),
    ("_energy_consumption", "J"),
)
_PARTS = ("_bucket", "_sum", "_count")
#: Rates for which -1 stands for "not measured".
_OFF = "_hit_rate"
_STATISTICS = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")
_CACHE = ("cache_hit", "cache_miss")
KINDS = ("counter", "gauge", "histogram", "summary")


@dataclass(frozen=True, slots=True)
class EngineFigure:
    """One figure at one moment.

    `model` is `name:version` (a name alone where no version is told, empty for the process);
    `labels` are the others, as `key=value` in order. `value` is None where the engine says that it
    does not measure this.
    """

    model: str
    name: str
    labels: str
    unit: str
    kind: str
    value: float | None


def of_samples(samples: Iterable[Sample]) -> list[EngineFigure]:
    """The figures among the samples of a scrape; those of other exporters are left out."""
    return [_figure(sample) for sample in samples if sample.name.startswith(FAMILIES)]


def _figure(sample: Sample) -> EngineFigure:
    labels = dict(sample.labels)
    model = next((labels.pop(name) for name in MODEL_LABELS if name in labels), "")
    version = labels.pop("version", "")
    kind = kind_of(sample)
    return EngineFigure(
        f"{model}:{version}" if version else model,
        sample.name,
        ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        unit_of(sample.name),
        kind,
        None if sample.name.endswith(_OFF) and sample.value == -1.0 else sample.value,
    )


def kind_of(sample: Sample) -> str:
    """As declared; a name that was not declared is told by its labels, else taken for a gauge."""
    if "le" in sample.labels:
        return "histogram"
    if "quantile" in sample.labels:
        return "summary"
    if sample.kind in KINDS:
        return sample.kind
    return "histogram" if sample.name.endswith(("_sum", "_count")) else "gauge"


def unit_of(name: str) -> str:
    """The unit of a figure by its name; empty for a count."""
    base = next((name.removesuffix(part) for part in _PARTS if name.endswith(part)), name)
    if name.endswith(("_count", "_bucket")):
        return ""
    return next((unit for ending, unit in _UNITS if base.endswith(ending)), "")


def of_statistics(models: Iterable[ModelStatistics]) -> list[EngineFigure]:
    """Counts and nanoseconds of each model version; those of a cache where it has one."""
    return [figure for model in models for figure in _of_model(model)]


def _of_model(model: ModelStatistics) -> Iterator[EngineFigure]:
    key = f"{model.name}:{model.version}"
    yield EngineFigure(key, "inference_count", "", "", "counter", model.inference_count)
    yield EngineFigure(key, "execution_count", "", "", "counter", model.execution_count)
    for name in (*_STATISTICS, *_CACHE):
        total = getattr(model.inference_stats, name)
        if name in _CACHE and not total.count:
            continue
        yield EngineFigure(key, f"{name}_count", "", "", "counter", total.count)
        yield EngineFigure(key, f"{name}_ns", "", "ns", "counter", total.ns)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Cumulative buckets in order of their bound, in `unit`.

    `count` is None where the text was cut before the last bucket: values over the last bound are
    then not known to be none. `total` is the sum of all values.
    """

    model: str
    name: str
    labels: str
    unit: str
    buckets: tuple[tuple[float, float], ...]
    count: float | None
    total: float | None

    @property
    def mean(self) -> float | None:
        return None if not self.count or self.total is None else self.total / self.count

    def quantile_bound(self, share: float) -> float | None:
        """The least bound that holds this share of the values; None where no bound is known to."""
        if not self.count:
            return None
        held = (bound for bound, number in self.buckets if number >= share * self.count)
        found = next(held, None)
        return None if found == float("inf") else found

    @property
    def is_cut(self) -> bool:
        """Whether the text ended before the last bucket."""
        return self.count is None

    @property
    def p95_bound(self) -> float | None:
        return self.quantile_bound(0.95)

    @property
    def sound(self) -> bool:
        """Whether the buckets never fall, as cumulative ones can't."""
        return all(before[1] <= after[1] for before, after in pairwise(self.buckets))


def histograms(figures: Iterable[EngineFigure]) -> list[Histogram]:
    """Every histogram of a scrape, with or without `_bucket` in the names of its buckets."""
    parts: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for figure in figures:
        if figure.kind == "histogram" and figure.value is not None:
            name, labels, part = _part(figure)
            parts[figure.model, name, labels][part] = figure.value
    return [_assembled(key, found) for key, found in sorted(parts.items())]


def _part(figure: EngineFigure) -> tuple[str, str, str]:
    """Which histogram this belongs to, and which part of it: a bound, `sum` or `count`."""
    labels = dict(label.split("=", 1) for label in figure.labels.split(",") if "=" in label)
    bound = labels.pop("le", "")
    rest = ",".join(f"{key}={value}" for key, value in labels.items())
    if bound:
        return figure.name.removesuffix("_bucket"), rest, bound
    name, _, part = figure.name.rpartition("_")
    return name, rest, part


def _assembled(key: tuple[str, str, str], parts: dict[str, float]) -> Histogram:
    model, name, labels = key
    bounds = sorted((float(part), value) for part, value in parts.items() if _is_number(part))
    last = bounds[-1][1] if bounds and bounds[-1][0] == float("inf") else None
    count = parts.get("count", last)
    return Histogram(model, name, labels, unit_of(name), tuple(bounds), count, parts.get("sum"))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
