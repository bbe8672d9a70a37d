"""The inbox: deliveries as they came, until they are counted."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models.sources import Source
from ingest.states import BatchStatus, SourceKind
from policies.models import Product


class Batch(models.Model):
    """One delivery, stored whole before it is acknowledged. The inbox."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="batches")
    batch_id = models.CharField(max_length=128)
    kind = models.CharField(max_length=16, choices=SourceKind)
    content_type = models.CharField(max_length=128, blank=True, default="")
    encoding = models.CharField(max_length=16, blank=True, default="")
    # As it was received. Emptied once its rows are stored, since they then hold all of it.
    body = models.BinaryField(null=True)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    boot_id = models.CharField(max_length=64, blank=True, default="")
    first_seq = models.PositiveBigIntegerField(null=True)
    last_seq = models.PositiveBigIntegerField(null=True)
    watermark = models.DateTimeField(null=True)
    # What the sender said of a whole file beside its content: title, format, facts of a trial.
    declared = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    received_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=16, choices=BatchStatus, default=BatchStatus.RECEIVED)
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    counts = models.JSONField(default=dict)
    rejected = models.JSONField(default=list)
    reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "batch_id"], name="batch_once"),
            models.CheckConstraint(
                condition=Q(status=BatchStatus.DONE) | Q(body__isnull=False),
                name="batch_keeps_its_body_until_done",
            ),
        ]
        indexes = [
            # The sweep, and how far the inbox is behind.
            models.Index(
                fields=["product", "id"],
                condition=Q(status=BatchStatus.RECEIVED),
                name="batch_waiting",
            ),
            # What waits for somebody's retry, by source.
            models.Index(
                fields=["source"],
                condition=Q(status=BatchStatus.SET_ASIDE),
                name="batch_set_aside",
            ),
            # The Sources page, and how far a source's watermark may move.
            models.Index(fields=["source", "-id"], name="batch_by_source"),
            # The Batches page.
            models.Index(fields=["product", "-received_at", "-id"], name="batch_newest"),
        ]
