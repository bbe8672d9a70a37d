"""Figures that engines tell: statistics answers and Prometheus scrapes, as bounded series."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection

from ingest.models import Batch, CounterSample, CounterSeries, Source
from ingest.services.stored import Stored, lost_pieces
from ingest.states import FigureKind
from orchid.formats import engine_metrics, prometheus, triton_statistics
from orchid.formats.engine_metrics import EngineFigure
from orchid.formats.reading import UnreadableError

#: Series of one source; what comes beyond is counted and not kept.
MOST_SERIES = 2_000
#: Days that samples are kept.
KEPT = timedelta(days=7)

_UPDATE = """
UPDATE ingest_counterseries AS series SET value = told.value, seen_at = %s
FROM unnest(%s::bigint[], %s::double precision[]) AS told (id, value) WHERE series.id = told.id
"""
SeriesKey = tuple[str, str, str]
Change = tuple[CounterSeries, EngineFigure]


@dataclass
class Recorded:
    """What storing came to. `fell` are counters that went down, by model: each a restart."""

    figures: int = 0
    left_out: int = 0
    fell: dict[str, list[str]] = field(default_factory=dict)


def store_statistics(batch: Batch, body: bytes) -> Stored:
    """Counts and nanoseconds of each model."""
    reading = triton_statistics.read(body)
    figures = engine_metrics.of_statistics(reading.records)
    recorded = record(batch.source, figures, batch.received_at)
    counts = {"models": len(reading.records), "figures": recorded.figures}
    return Stored(counts | _left_out(recorded))


def store_metrics(batch: Batch, body: bytes) -> Stored:
    """Triton's and vLLM's figures; those of other exporters are read and not kept."""
    reading = prometheus.read(body)
    if not reading.records:
        raise UnreadableError("no sample of the text exposition in this file")
    figures = engine_metrics.of_samples(reading.records)
    recorded = record(batch.source, figures, batch.received_at)
    counts = {"samples": len(reading.records), "figures": recorded.figures}
    return Stored(counts | _left_out(recorded), lost_pieces(reading.lost))


def _left_out(recorded: Recorded) -> dict[str, int]:
    return {"left_out": recorded.left_out} if recorded.left_out else {}


def record(
    source: Source,
    figures: Sequence[EngineFigure],
    at: datetime,
    every: timedelta = timedelta(0),
) -> Recorded:
    """Bring each series to where it stands now, and keep a sample where it changed.

    Within `every` of the last sample a change only moves the series, unless a counter fell: the
    sample before and the one after a restart are both kept, so that no increase is lost.
    """
    by_key = {_key(figure): figure for figure in figures}
    # Two deliveries of one source at once: the second waits, and finds the first one's series.
    Source.objects.select_for_update().get(pk=source.pk)
    known = {
        (series.model, series.name, series.labels): series
        for series in CounterSeries.objects.filter(source=source)
    }
    new = [figure for key, figure in by_key.items() if key not in known]
    room = max(MOST_SERIES - len(known), 0)
    recorded = Recorded(left_out=len(new[room:]))
    samples = _begun(source, new[:room], at)
    recorded.figures = len(samples)
    changed = [
        (known[key], figure)
        for key, figure in by_key.items()
        if key in known and known[key].value != figure.value
    ]
    samples += _late([pair for pair in changed if at < pair[0].seen_at], at, recorded)
    samples += _moved([pair for pair in changed if at >= pair[0].seen_at], at, every, recorded)
    CounterSample.objects.bulk_create(samples, batch_size=1000)
    return recorded


def _key(figure: EngineFigure) -> SeriesKey:
    return figure.model[:256], figure.name[:128], figure.labels[:256]


def _begun(source: Source, figures: Iterable[EngineFigure], at: datetime) -> list[CounterSample]:
    series = [
        CounterSeries(
            source=source,
            model=figure.model[:256],
            name=figure.name[:128],
            labels=figure.labels[:256],
            unit=figure.unit,
            kind=figure.kind,
            value=figure.value,
            seen_at=at,
        )
        for figure in figures
    ]
    CounterSeries.objects.bulk_create(series, batch_size=1000)
    return [CounterSample(series=one, at=at, value=one.value) for one in series]


def _late(changed: Sequence[Change], at: datetime, recorded: Recorded) -> list[CounterSample]:
    """A delivery that was overtaken: where the series stands now is newer than what it says."""
    recorded.figures += len(changed)
    return [CounterSample(series=series, at=at, value=figure.value) for series, figure in changed]


def _moved(
    changed: Sequence[Change],
    at: datetime,
    every: timedelta,
    recorded: Recorded,
) -> list[CounterSample]:
    recorded.figures += len(changed)
    if not changed:
        return []
    last = _last_samples([series.pk for series, _ in changed])
    samples: list[CounterSample] = []
    for series, figure in changed:
        fell = has_fallen(series, figure.value)
        if fell:
            recorded.fell.setdefault(series.model, []).append(series.name)
            if last.get(series.pk) != series.seen_at:
                samples.append(CounterSample(series=series, at=series.seen_at, value=series.value))
        # A summary's quantiles are of a window that slides: where they stood is nothing to add up.
        if series.kind == FigureKind.SUMMARY:
            continue
        if fell or at - last.get(series.pk, at - every) >= every:
            samples.append(CounterSample(series=series, at=at, value=figure.value))
    with connection.cursor() as cursor:
        ids = [series.pk for series, _ in changed]
        values = [None if figure.value is None else float(figure.value) for _, figure in changed]
        cursor.execute(_UPDATE, [at, ids, values])
    return samples


def has_fallen(series: CounterSeries, value: float | None) -> bool:
    """Whether a counter is below where it stood, which only a restart brings about."""
    if series.kind != "counter" or value is None or series.value is None:
        return False
    return value < series.value


def _last_samples(series_pks: list[int]) -> dict[int, datetime]:
    newest = CounterSample.objects.filter(series_id__in=series_pks).order_by("series_id", "-at")
    return dict(newest.distinct("series_id").values_list("series_id", "at"))


def forget_old_samples(now: datetime) -> int:
    """Drop samples past their retention; a series keeps where it stands. Returns how many."""
    gone, _ = CounterSample.objects.filter(at__lt=now - KEPT).delete()
    return gone
