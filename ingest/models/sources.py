"""Whoever sends: one edge, one run of one server, one client log."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.states import EngineKind, SourceKind
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
    # By how much an edge's clock was off when it last was beyond the bound; ahead is positive.
    clock_skew_ms = models.FloatField(null=True, blank=True)
    clock_off_at = models.DateTimeField(null=True, blank=True)

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
