"""Quality evidence: measured cells, immutable."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from gates.states import EvidenceKind
from policies.models import Product


class Evidence(models.Model):
    """One measured cell of quality: a route under one manifest in one segment. Immutable."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="evidence")
    # Over the content, so that the same evidence pushed twice is one row.
    digest = models.CharField(max_length=80)
    kind = models.CharField(max_length=16, choices=EvidenceKind)
    suite = models.CharField(max_length=120)
    suite_version = models.CharField(max_length=64)
    route = models.CharField(max_length=80)
    manifest = models.CharField(max_length=80)
    where = models.JSONField(default=dict, blank=True)
    key = models.CharField(max_length=400, blank=True)
    n = models.PositiveBigIntegerField()
    mean = models.FloatField()
    # Standard deviation of the item scores, which lie in [0, 1].
    spread = models.FloatField()
    violations = models.PositiveIntegerField(default=0)
    content = models.JSONField()
    pushed_by = models.CharField(max_length=160)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "evidence"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["product", "digest"], name="evidence_once"),
            models.CheckConstraint(condition=Q(n__gte=1), name="evidence_has_items"),
            models.CheckConstraint(
                condition=Q(mean__gte=0, mean__lte=1, spread__gte=0, spread__lte=0.5),
                name="evidence_scores_are_bounded",
            ),
        ]
        indexes: ClassVar = [
            # What covers the traffic of a product, by route and manifest.
            models.Index(fields=["product", "route", "manifest"], name="evidence_by_manifest"),
            # The evidence page.
            models.Index(fields=["product", "-created_at", "-id"], name="evidence_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.suite} {self.suite_version}: {self.route}, {self.key or 'everything'}"
