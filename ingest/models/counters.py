"""Figures that an engine tells of itself, as series over time."""

from django.db import models
from django.utils import timezone

from ingest.models.sources import Source
from ingest.states import FigureKind


class CounterSeries(models.Model):
    """One figure of one model behind one source: its unit, and where it stands now."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="series")
    # `name:version`; empty for what concerns the whole process.
    model = models.CharField(max_length=256, blank=True)
    name = models.CharField(max_length=128)
    # The labels beside the model, as `key=value` in order; a bucket's `le` is among them.
    labels = models.CharField(max_length=256, blank=True, default="")
    unit = models.CharField(max_length=16, blank=True, default="")
    kind = models.CharField(max_length=16, choices=FigureKind)
    # Null where the engine says that it does not measure this.
    value = models.FloatField(null=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "model", "name", "labels"], name="counter_series_once"
            ),
        ]


class CounterSample(models.Model):
    """Where a series stood at one moment; increases are computed from these, resets and all.

    A value that did not change is not stored again.
    """

    series = models.ForeignKey(CounterSeries, models.PROTECT, related_name="samples")
    at = models.DateTimeField(default=timezone.now)
    value = models.FloatField(null=True)

    class Meta:
        indexes = [
            # Increases, in order of time.
            models.Index(fields=["series", "at", "id"], name="counter_sample_in_order"),
            # What is past its retention.
            models.Index(fields=["at"], name="counter_sample_oldest"),
        ]
