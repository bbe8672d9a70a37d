"""What load generators measured, and recorded traffic to replay."""

from django.db import models
from django.utils import timezone

from ingest.models.inbox import Batch
from ingest.models.sources import Source
from ingest.states import TraceHolds, TrialLoop
from policies.models import Product


class Trial(models.Model):
    """One result file of a load generator. Files of one run share its source and its run's name.

    Whether it can support an advance is computed from `told` and `declared`, never stored.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="trials")
    # Its receipt, until that is forgotten.
    batch = models.ForeignKey(Batch, models.SET_NULL, null=True, related_name="+")
    # Of the unpacked file: the same content is the same trial.
    sha256 = models.CharField(max_length=64)
    format = models.CharField(max_length=32)
    tool = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    model = models.CharField(max_length=128, blank=True, default="")
    loop = models.CharField(max_length=8, choices=TrialLoop, blank=True, default="")
    simulated = models.BooleanField(default=False)
    # False when pieces of the file were lost or the run was stopped.
    whole = models.BooleanField(default=True)
    # orchid.formats.trials.shape.Point as objects: the tool's figures, and ours apart from them.
    points = models.JSONField(default=list)
    # Facts by name: what the file says, and what somebody declared beside it.
    told = models.JSONField(default=dict)
    declared = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    # Columns or names that were seen and not read.
    unused = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "sha256"], name="trial_once"),
        ]
        indexes = [
            # The Trials page.
            models.Index(fields=["product", "-created_at", "-id"], name="trial_newest"),
        ]

    def __str__(self) -> str:
        return self.title


class ArrivalTrace(models.Model):
    """Recorded traffic: arrivals in order, or only lengths, or a model of rates."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="arrival_traces")
    batch = models.ForeignKey(Batch, models.SET_NULL, null=True, related_name="+")
    sha256 = models.CharField(max_length=64)
    format = models.CharField(max_length=32)
    title = models.CharField(max_length=128)
    holds = models.CharField(max_length=16, choices=TraceHolds)
    rows = models.PositiveIntegerField()
    # Of the arrivals after the warm-up cut; percentiles by the inverted CDF.
    statistics = models.JSONField(default=dict)
    # Arrivals by window after the cut: width_s and counts.
    rates = models.JSONField(default=dict)
    # Units of the lengths in and out.
    units = models.JSONField(default=list)
    warm_up_requests = models.PositiveIntegerField(default=0)
    warm_up_s = models.FloatField(default=0)
    notes = models.JSONField(default=list)
    unused = models.PositiveIntegerField(default=0)
    # orchid.formats.arrivals.compact: every row, warm-up too.
    content = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "sha256"], name="arrival_trace_once"),
        ]
        indexes = [
            # The Trials page.
            models.Index(fields=["product", "-created_at", "-id"], name="arrival_trace_newest"),
        ]

    def __str__(self) -> str:
        return self.title
