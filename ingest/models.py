"""What arrived and what it became. Requests lie in a table partitioned by day; see migration 0002.

Facts are stored once and every figure is computed from them: an attempt's outcome follows from its
own ending, the gateway's record and the client's log, so it is a selector and not a column.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.states import BatchStatus, Clock, EngineKind, SourceKind
from policies.models import Product


class Source(models.Model):
    """Whoever sends: one edge, one run of one server, one client log."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="sources")
    kind = models.CharField(max_length=16, choices=SourceKind)
    name = models.CharField(max_length=128)
    # Trace ids count from 1 in each run of a server, so a run is a source of its own.
    server_run = models.CharField(max_length=128, blank=True, default="")
    engine_kind = models.CharField(max_length=16, choices=EngineKind, blank=True, default="")
    # The models that the live generation expects behind this source; releases writes it.
    expected_manifest = models.JSONField(default=dict, blank=True)
    # One moment on both clocks of the server's host. Without it stamps are durations only.
    anchor_monotonic_ns = models.BigIntegerField(null=True, blank=True)
    anchor_unix_ns = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    # Everything that arrived at the edge before this moment is counted.
    watermark = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["product", "kind", "name", "server_run"], name="source_once"
            ),
            models.CheckConstraint(
                condition=Q(anchor_monotonic_ns__isnull=True, anchor_unix_ns__isnull=True)
                | Q(anchor_monotonic_ns__isnull=False, anchor_unix_ns__isnull=False),
                name="source_anchor_names_both_clocks",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.server_run})" if self.server_run else self.name


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
            # The Sources page, and how far a source's watermark may move.
            models.Index(fields=["source", "-id"], name="batch_by_source"),
            # The Batches page.
            models.Index(fields=["product", "-received_at", "-id"], name="batch_newest"),
        ]


class RequestRow(models.Model):
    """One logical request with its attempts. Partitioned by day of arrival, part of its key."""

    pk = models.CompositePrimaryKey("day", "id")
    day = models.DateField()
    id = models.BigIntegerField()
    product_id = models.BigIntegerField()
    request_id = models.TextField()
    batch_id = models.BigIntegerField()
    arrived_at = models.DateTimeField()
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()
    tenant = models.TextField()
    tenant_class = models.TextField()
    class_name = models.TextField()
    dims = models.JSONField()
    dims_key = models.TextField()
    action = models.TextField()
    route = models.TextField()
    reason = models.TextField()
    manifest = models.TextField()
    outcome = models.TextField()
    policy_valid = models.BooleanField(null=True)
    schema_valid = models.BooleanField(null=True)
    deadline_ms = models.FloatField(null=True)
    admission_ms = models.FloatField(null=True)
    first_token_ms = models.FloatField(null=True)
    completion_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    max_output_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)
    teu = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12)
    populations = ArrayField(models.TextField())
    attempt_ids = ArrayField(models.TextField())
    # The record's own objects, for the decision diff and the attempts page.
    decision = models.JSONField(null=True)
    attempts = models.JSONField()

    class Meta:
        managed = False
        db_table = "ingest_request"


class ClientCall(models.Model):
    """One call as its client logged it: only this tells a model's error from an answer."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="+")
    request_id = models.CharField(max_length=256)
    model = models.CharField(max_length=256)
    protocol = models.CharField(max_length=16)
    outcome = models.CharField(max_length=32)
    failure = models.CharField(max_length=32)
    sent_at = models.DateTimeField()
    sent_steady_ns = models.BigIntegerField()
    elapsed_ms = models.FloatField(null=True)
    first_response_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "request_id", "sent_steady_ns"], name="client_call_once"
            ),
        ]
        indexes = [
            # Joining engine attempts.
            models.Index(fields=["product", "request_id"], name="client_call_by_request"),
        ]


class EngineSpan(models.Model):
    """One OpenTelemetry span; a trace may arrive over several bodies, children first."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    trace_id = models.CharField(max_length=32)
    span_id = models.CharField(max_length=16)
    parent_span_id = models.CharField(max_length=16, blank=True, default="")
    name = models.CharField(max_length=256)
    start_ns = models.BigIntegerField()
    end_ns = models.BigIntegerField()
    service = models.CharField(max_length=256, blank=True, default="")
    attributes = models.JSONField()
    events = models.JSONField()
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "trace_id", "span_id"], name="engine_span_once"
            ),
        ]


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
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "key"], name="engine_attempt_once"),
        ]
        indexes = [
            # Joining requests with what the engine saw of them.
            models.Index(fields=["product", "attempt_id"], name="engine_attempt_by_id"),
            # The Attempts page.
            models.Index(fields=["product", "-received_at", "-id"], name="engine_attempt_newest"),
        ]


class CounterSample(models.Model):
    """One cumulative figure of an engine at one moment; increases are computed, resets and all."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="counters")
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="+")
    model = models.CharField(max_length=256)
    name = models.CharField(max_length=128)
    value = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "model", "name"], name="counter_sample_once"),
        ]
        indexes = [
            # Increases of a source's figures, in order of arrival.
            models.Index(fields=["source", "model", "name", "batch"], name="counter_by_series"),
        ]


class RollupDelta(models.Model):
    """What one batch added to one rollup. Appended only; readers sum, one compactor merges."""

    product_id = models.BigIntegerField()
    step_at = models.DateTimeField()
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()
    dims_key = models.TextField()
    dims = models.JSONField()
    route = models.TextField()
    manifest = models.TextField()
    counters = models.JSONField()
    histogram = models.JSONField()
    within = models.JSONField()
    teu = models.DecimalField(max_digits=24, decimal_places=6)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12)
    records = models.PositiveIntegerField()

    class Meta:
        indexes = [
            # A gate's window: one generation under one publication, over time.
            models.Index(
                fields=["product_id", "digest", "publication", "step_at"], name="rollup_window"
            ),
        ]
