"""Model servers that are asked how they are."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models.sources import Source
from ingest.states import ServerKind, ServerProtocol, ServerState, WarmUp
from policies.models import Product

#: Seconds between two checks of a server that answers.
POLL_EVERY_S = 10


class TritonServer(models.Model):
    """One registered server, what is wanted of it, and what its last check found."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="servers")
    name = models.CharField(max_length=64)
    kind = models.CharField(max_length=8, choices=ServerKind, default=ServerKind.TRITON)
    # Whose samples are this run's. A restart gives the server a new source.
    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    http_url = models.CharField(max_length=200, blank=True, default="")
    grpc_url = models.CharField(max_length=200, blank=True, default="")
    metrics_url = models.CharField(max_length=200, blank=True, default="")
    protocol = models.CharField(max_length=4, choices=ServerProtocol, default=ServerProtocol.HTTP)
    # The pool of the generations that it serves; empty where it serves every generation.
    pool = models.CharField(max_length=80, blank=True, default="")
    poll_every_s = models.PositiveSmallIntegerField(default=POLL_EVERY_S)
    warm_up = models.CharField(max_length=8, choices=WarmUp, default=WarmUp.CHEAP)
    # Every n-th request is traced; null leaves the server's own settings alone.
    trace_rate = models.PositiveIntegerField(null=True, blank=True)
    # The same while its pool serves a candidate; null means as otherwise.
    candidate_trace_rate = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    # What the last check found.
    server_run = models.CharField(max_length=64, blank=True, default="")
    state = models.CharField(max_length=12, choices=ServerState, default=ServerState.UNKNOWN)
    state_since = models.DateTimeField(default=timezone.now)
    checked_at = models.DateTimeField(null=True)
    last_good_at = models.DateTimeField(null=True)
    answered_in_ms = models.FloatField(null=True)
    about = models.CharField(max_length=128, blank=True, default="")
    # Each a list or mapping of plain values; ingest/services/servers/ says which.
    findings = models.JSONField(default=list)
    seen_models = models.JSONField(default=dict)
    trace_settings = models.JSONField(default=dict)
    probes = models.JSONField(default=dict)
    standings = models.JSONField(default=dict)
    # What each model was when its generation was first served: {digest: {model: ...}}.
    pins = models.JSONField(default=dict)
    series_left_out = models.PositiveIntegerField(default=0)

    # Who checks it, and when it is due again. `checks` is the lease's token.
    due_at = models.DateTimeField(default=timezone.now)
    lease_until = models.DateTimeField(null=True)
    checks = models.PositiveBigIntegerField(default=0)
    failed_in_a_row = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "name"], name="server_name_once"),
            models.CheckConstraint(
                condition=~Q(http_url="", grpc_url="", metrics_url=""),
                name="server_has_an_address",
            ),
        ]
        indexes = [
            # The tick: which servers are due.
            models.Index(fields=["due_at"], name="server_due"),
        ]

    def __str__(self) -> str:
        return self.name


class ServerChange(models.Model):
    """One move of a server from a state to another, or a restart: its history."""

    server = models.ForeignKey(TritonServer, models.CASCADE, related_name="changes")
    at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=ServerState)
    server_run = models.CharField(max_length=64, blank=True, default="")
    why = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        indexes = [
            # A server's page, newest first.
            models.Index(fields=["server", "-at", "-id"], name="server_change_newest"),
        ]
