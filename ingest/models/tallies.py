"""What each source came to, summed as it is stored, so that no page counts every batch again."""

from django.db import models

from ingest.models.sources import Source


class SourceTally(models.Model):
    """Everything ever stored of one source, in one row that its own transactions keep."""

    source = models.OneToOneField(Source, models.CASCADE, primary_key=True, related_name="tally")
    batches = models.PositiveBigIntegerField(default=0)
    stored = models.PositiveBigIntegerField(default=0)
    # Was here before; counted once.
    repeated = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)
    # Fields of prose that a foreign format carried: dropped, and counted here.
    dropped_text = models.PositiveBigIntegerField(default=0)
    # By code: {count, where, message, batch, at} with the newest piece as its sample.
    reasons = models.JSONField(default=dict)
    # By minute since 1970, the last few: how many were stored.
    recent = models.JSONField(default=dict)
    # From the delivery's arrival until it was counted, of the newest delivery.
    lag_ms = models.FloatField(null=True)
    counted_at = models.DateTimeField(null=True)


class SourceBoot(models.Model):
    """The numbers that one boot of a sender gave its records, as far as they are counted."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="boots")
    boot_id = models.CharField(max_length=64)
    first_seq = models.PositiveBigIntegerField()
    last_seq = models.PositiveBigIntegerField()
    arrived = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "boot_id"], name="source_boot_once"),
        ]
