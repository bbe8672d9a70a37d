"""An engine's own counters, as increases over the samples that came in.

Counters hide what the caller sees: an error of a model counts as answered, a request refused at
the full queue counts nowhere. They serve as a check beside attempts, never as a population.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ingest.models import CounterSample, CounterSeries, Source
from ingest.states import FigureKind
from orchid.formats.engine_metrics import EngineFigure, Histogram, histograms
from orchid.formats.prometheus import Increase, increase_over_runs
from policies.models import Product

NANOSECONDS, MICROSECONDS = 1e6, 1e3  # of a millisecond
FAILURE, FINISHED = "nv_inference_request_failure", "vllm:request_success_total"
#: Triton's reasons of a failure as a person reads them.
REASONS = {
    "other": "failed for another reason",
    "backend": "failed in the backend",
    "rejected": "refused by the queue's rules",
    "canceled": "cancelled",
}

Grown = dict[tuple[str, str], Increase]  # by name and labels


@dataclass(frozen=True)
class EngineFigures:
    """What one model did between the first and the last sample; means in milliseconds a request.

    None where no request was counted, which is not 0. `failed` is by the reason where the engine
    tells one; `ended` is how vLLM says that sequences ended. `silent` is true where every counter
    of the model has stood at 0 all the time: it may count nothing at all.
    """

    model: str
    answered: int
    failed: int
    executions: int
    queue_ms: float | None
    compute_ms: float | None
    resets: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    ended: Mapping[str, int] = field(default_factory=dict)
    silent: bool = False

    @property
    def name(self) -> str:
        """Without the version."""
        return self.model.rpartition(":")[0] or self.model


def engine_figures(
    product: Product, source_pk: int, since: datetime | None = None
) -> list[EngineFigures]:
    """Increases of every model behind a source of counters, over all runs of a polled server."""
    runs = runs_of(product, source_pk)
    grown, counting = increases(runs, since), counting_models(runs)
    return [
        _figures(model, grown[model], silent=model not in counting)
        for model in sorted(grown)
        if model
    ]


def counting_models(runs: Sequence[Source]) -> set[str]:
    """Models of which some counter stands at more than 0, in any run."""
    counters = CounterSeries.objects.filter(source__in=runs, kind=FigureKind.COUNTER, value__gt=0)
    return set(counters.values_list("model", flat=True).distinct())


def runs_of(product: Product, source_pk: int) -> list[Source]:
    """The source, and the other runs of the same server, the oldest first."""
    source = Source.objects.filter(product=product, pk=source_pk).first()
    if source is None:
        return []
    same = Source.objects.filter(product=product, kind=source.kind, name=source.name)
    return list(same.order_by("pk")) if source.kind == "polled" else [source]


def increases(runs: Sequence[Source], since: datetime | None = None) -> dict[str, Grown]:
    """By model, what each of its counters grew by, from `since` or from its first sample on."""
    order = {run.pk: number for number, run in enumerate(runs)}
    counters = CounterSeries.objects.filter(source__in=runs, kind=FigureKind.COUNTER)
    series = {one.pk: one for one in counters}
    points: dict[tuple[str, str, str], list[list[float | None]]] = defaultdict(
        lambda: [[] for _ in runs]
    )
    for series_pk, value in _samples(list(series), since):
        points[_key(series[series_pk])][order[series[series_pk].source_id]].append(value)
    for one in series.values():
        # Where it stands now: newer than its last sample, when samples are kept less often.
        points[_key(one)][order[one.source_id]].append(one.value)
    return _by_model({key: increase_over_runs(found) for key, found in points.items()})


def _samples(series_pks: list[int], since: datetime | None) -> list[tuple[int, float | None]]:
    """In order of time; with `since`, from where each series stood at that moment on."""
    samples = CounterSample.objects.filter(series_id__in=series_pks)
    columns = ("series_id", "value")
    if since is None:
        return list(samples.order_by("at", "pk").values_list(*columns))
    before = samples.filter(at__lt=since).order_by("series_id", "-at", "-pk").distinct("series_id")
    after = samples.filter(at__gte=since).order_by("at", "pk")
    return [*before.values_list(*columns), *after.values_list(*columns)]


def _key(series: CounterSeries) -> tuple[str, str, str]:
    return series.model, series.name, series.labels


def _by_model(grown: Mapping[tuple[str, str, str], Increase]) -> dict[str, Grown]:
    models: dict[str, Grown] = defaultdict(dict)
    for (model, name, labels), found in grown.items():
        models[model][name, labels] = found
    return models


def _figures(model: str, grown: Grown, *, silent: bool) -> EngineFigures:
    reasons = _by_label(grown, FAILURE, "reason")
    ended = _by_label(grown, FINISHED, "finished_reason")
    answered = _first(grown, "success_count", "nv_inference_request_success") or sum(ended.values())
    computed = _first(grown, "compute_infer_count", "nv_inference_count")
    return EngineFigures(
        model=model,
        answered=int(answered),
        failed=int(_first(grown, "fail_count") or _total(grown, FAILURE)),
        executions=int(_first(grown, "execution_count", "nv_inference_exec_count")),
        queue_ms=_mean(_duration_ms(grown, "queue"), answered),
        compute_ms=_mean(_compute_ms(grown), computed),
        resets=max((one.resets for one in grown.values()), default=0),
        reasons=reasons,
        ended=ended,
        silent=silent,
    )


def _first(grown: Grown, *names: str) -> float:
    """The first of these names that is told; statistics and metrics count the same twice."""
    return next((grown[name, ""].value for name in names if (name, "") in grown), 0.0)


def _total(grown: Grown, name: str) -> float:
    return sum(one.value for (told, _), one in grown.items() if told == name)


def _by_label(grown: Grown, name: str, label: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for (told, labels), one in grown.items():
        parts = dict(part.split("=", 1) for part in labels.split(",") if "=" in part)
        if told == name and label in parts:
            found[parts[label]] += int(one.value)
    return dict(found)


def _compute_ms(grown: Grown) -> float | None:
    parts = [
        _duration_ms(grown, part) for part in ("compute_input", "compute_infer", "compute_output")
    ]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _duration_ms(grown: Grown, phase: str) -> float | None:
    """Statistics count nanoseconds, metrics microseconds."""
    units = ((f"{phase}_ns", NANOSECONDS), (f"nv_inference_{phase}_duration_us", MICROSECONDS))
    for name, per_ms in units:
        if (name, "") in grown:
            return grown[name, ""].value / per_ms
    return None


def _mean(total_ms: float | None, count: float) -> float | None:
    return None if total_ms is None or not count else round(total_ms / count, 3)


def requests_from_outside(
    figures: Iterable[EngineFigures], steps: Mapping[str, Sequence[str]]
) -> int:
    """How many requests a server answered, each once: a step of an ensemble is not another one.

    `steps` names the models that each ensemble calls. What a model counts beyond its ensembles'
    calls came from outside, or from a model that calls it by itself, which no counter tells.
    """
    answered: Counter[str] = Counter()
    for one in figures:
        answered[one.name] += one.answered
    called: Counter[str] = Counter()
    for ensemble, models in steps.items():
        for model in models:
            called[model] += answered[ensemble]
    return sum(max(count - called[model], 0) for model, count in answered.items())


def source_histograms(source: Source) -> list[Histogram]:
    """Every histogram as it stands now, since the engine started."""
    series = CounterSeries.objects.filter(source=source, kind=FigureKind.HISTOGRAM)
    return histograms(
        EngineFigure(one.model, one.name, one.labels, one.unit, one.kind, one.value)
        for one in series
    )


@dataclass(frozen=True)
class EngineCounts:
    """How one model's requests ended in the engine's own words; `none` of them is a success."""

    source: Source
    model: str
    ended: Mapping[str, int]

    @property
    def ended_words(self) -> str:
        """The most frequent first; of Triton's reasons only those that were counted."""
        told = sorted(self.ended.items(), key=lambda pair: (-pair[1], pair[0]))
        shown = [pair for pair in told if pair[1] or pair[0] not in REASONS]
        return ", ".join(f"{REASONS.get(name, name)} {count:,}" for name, count in shown)


def engine_counts(product: Product, since: datetime | None = None) -> list[EngineCounts]:
    """For each model behind each engine: `answered` and failures (Triton), finish reasons (vLLM).

    An engine counts what it ended, so that an error of a model, a request that was refused at the
    full queue and a client that left are missing or among the answered.
    """
    found: list[EngineCounts] = []
    newest = Source.objects.filter(product=product, series__isnull=False).order_by(
        "kind", "name", "-pk"
    )
    seen: set[tuple[str, str]] = set()
    for source in newest.distinct():
        if source.kind == "polled" and (source.kind, source.name) in seen:
            continue
        seen.add((source.kind, source.name))
        for one in engine_figures(product, source.pk, since):
            found.append(EngineCounts(source, one.model, one.ended or _triton_counts(one)))
    return found


def _triton_counts(one: EngineFigures) -> dict[str, int]:
    failures = {reason.lower(): count for reason, count in one.reasons.items()}
    return {"answered": one.answered, **(failures or {"failed": one.failed})}
