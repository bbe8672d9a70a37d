"""OpenTelemetry spans as they came, and which traces a worker has yet to look at."""

from django.db import models
from django.utils import timezone

from ingest.models.sources import Source


class EngineSpan(models.Model):
    """One span; a trace may arrive over several bodies, children first. Partitioned by day.

    `body` is the span in OTLP's own encoding, text removed: `orchid.formats.otlp.unpacked` reads
    it. The span's id is its eight bytes as a signed number. `day` is the day of its start, or of
    its arrival where the start lies outside the days that are kept.
    """

    pk = models.CompositePrimaryKey("source_id", "trace_id", "span_id", "day")
    source_id = models.BigIntegerField()
    trace_id = models.UUIDField()
    span_id = models.BigIntegerField()
    day = models.DateField()
    service = models.TextField()
    body = models.BinaryField()

    class Meta:
        managed = False
        db_table = "ingest_span"


class TouchedTraces(models.Model):
    """Traces that one body brought spans of. Gone once their attempts are derived."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="+")
    # Sixteen bytes each.
    trace_ids = models.BinaryField()
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            # The oldest of one source, and whether too many wait.
            models.Index(fields=["source", "id"], name="touched_by_source"),
        ]
