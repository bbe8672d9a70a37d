"""Cumulative figures of an engine: statistics answers and Prometheus scrapes."""

from collections.abc import Iterable, Iterator

from ingest.models import Batch, CounterSample
from ingest.services.stored import Stored, lost_pieces
from orchid.formats import prometheus, triton_statistics
from orchid.formats.prometheus import Sample
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_statistics import ModelStatistics

_DURATIONS = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")


def store_statistics(batch: Batch, body: bytes) -> Stored:
    """Counts and nanoseconds of each model."""
    reading = triton_statistics.read(body)
    rows = [row for model in reading.records for row in _of_model(model)]
    return Stored({"models": len(reading.records), "figures": _store(batch, rows)})


def _of_model(model: ModelStatistics) -> Iterator[tuple[str, str, float]]:
    name = f"{model.name}:{model.version}"
    yield name, "inference_count", model.inference_count
    yield name, "execution_count", model.execution_count
    for duration in _DURATIONS:
        total = getattr(model.inference_stats, duration)
        yield name, f"{duration}_count", total.count
        yield name, f"{duration}_ns", total.ns


def store_metrics(batch: Batch, body: bytes) -> Stored:
    """Triton's counters of each model; other series are read and not kept."""
    reading = prometheus.read(body)
    if not reading.records:
        raise UnreadableError("no sample of the text exposition in this file")
    rows = list(_kept(reading.records))
    counts = {"samples": len(reading.records), "figures": _store(batch, rows)}
    return Stored(counts, lost_pieces(reading.lost))


def _kept(samples: Iterable[Sample]) -> Iterator[tuple[str, str, float]]:
    for sample in samples:
        labels = sample.labels
        if sample.kind != "counter" or "model" not in labels or sample.value is None:
            continue
        name = f"{sample.name}:{labels['reason']}" if "reason" in labels else sample.name
        yield f"{labels['model']}:{labels.get('version', '')}", name, sample.value


def _store(batch: Batch, rows: Iterable[tuple[str, str, float]]) -> int:
    samples = {
        (model[:256], name[:128]): CounterSample(
            source_id=batch.source_id, batch=batch, model=model[:256], name=name[:128], value=value
        )
        for model, name, value in rows
    }
    CounterSample.objects.bulk_create(samples.values(), batch_size=1000)
    return len(samples)
