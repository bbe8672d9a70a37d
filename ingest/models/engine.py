"""What engines tell of themselves: spans and executions."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models.sources import Source
from ingest.states import Clock, EngineSystem
from policies.models import Product


class EngineAttempt(models.Model):
    """One execution inside an engine, as the engine itself saw it."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="attempts")
    # Within the source: trace id and first stamp of a file, or trace and span id of a span.
    key = models.CharField(max_length=64)
    parent_key = models.CharField(max_length=64, blank=True, default="")
    # What the caller passed as the engine's request id: the attempt id, when the caller is an edge.
    attempt_id = models.CharField(max_length=256, blank=True, default="")
    model = models.CharField(max_length=256, blank=True, default="")
    version = models.IntegerField(null=True)
    clock = models.CharField(max_length=8, choices=Clock)
    first_ns = models.BigIntegerField()
    events = models.PositiveIntegerField()
    ending = models.CharField(max_length=16)
    composite = models.BooleanField()
    responses = models.PositiveIntegerField()
    queue_ms = models.FloatField(null=True)
    input_ms = models.FloatField(null=True)
    infer_ms = models.FloatField(null=True)
    output_ms = models.FloatField(null=True)
    compute_ms = models.FloatField(null=True)
    request_ms = models.FloatField(null=True)
    frontend_ms = models.FloatField(null=True)
    # Null for a composite without child records: not broken down, which is not 0.
    exclusive_ms = models.FloatField(null=True)
    # Who tells: the server, or the convention that the caller's library follows.
    system = models.CharField(max_length=16, choices=EngineSystem, default=EngineSystem.TRITON)
    # Every event as [name, nanoseconds], in order of time: what a later part is joined with.
    stamps = models.JSONField(default=list)
    first_token_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    cached_input_tokens = models.IntegerField(null=True)
    cache_write_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)
    # Whether the input tokens include the cached ones; empty where nobody said.
    input_convention = models.CharField(max_length=32, blank=True, default="")
    # The engine's own number of this execution and of the one that called it, in a trace file.
    engine_id = models.BigIntegerField(null=True)
    parent_engine_id = models.BigIntegerField(null=True)
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "key"], name="engine_attempt_once"),
        ]
        indexes = [
            # What a later part of a trace file is joined with: the execution, and its family.
            models.Index(
                fields=["source", "engine_id"],
                condition=Q(engine_id__isnull=False),
                name="engine_attempt_by_number",
            ),
            models.Index(
                fields=["source", "parent_engine_id"],
                condition=Q(parent_engine_id__isnull=False),
                name="engine_attempt_by_parent",
            ),
            # What an execution called, for the picture of its request.
            models.Index(
                fields=["source", "parent_key"],
                condition=~Q(parent_key=""),
                name="engine_attempt_by_caller",
            ),
            # Joining requests with what the engine saw of them.
            models.Index(fields=["product", "attempt_id"], name="engine_attempt_by_id"),
            # The Attempts page, and what is past retention.
            models.Index(fields=["product", "-received_at", "-id"], name="engine_attempt_newest"),
        ]


class EngineHeader(models.Model):
    """Who an execution is, where no stamp of it has come yet: its file was cut between the two."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    engine_id = models.BigIntegerField()
    model = models.CharField(max_length=256)
    version = models.IntegerField(null=True)
    attempt_id = models.CharField(max_length=256, blank=True, default="")
    parent_engine_id = models.BigIntegerField(null=True)
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "engine_id"], name="engine_header_once"),
        ]


class EngineModel(models.Model):
    """What the executions of one server run have shown of a model; each is true for good.

    One that calls others and never computes is an ensemble, which alone tells an ensemble that
    failed before its first step from a model whose request timed out in the queue.
    """

    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    model = models.CharField(max_length=256)
    calls_others = models.BooleanField(default=False)
    computes = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "model"], name="engine_model_once"),
        ]
