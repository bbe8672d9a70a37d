"""Quality evidence: measured cells, immutable."""

from datetime import datetime
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import MD5, Concat, Now

from gates.states import EvidenceKind
from policies.models import Product

#: What is measured again when a suite runs again; its hash finds the last run of each.
CELL = ("manifest", "route", "kind", "suite", "key", "load_state")


def cell_hash() -> MD5:
    """Over the names of a cell, each ended by a character that no name holds."""
    return MD5(Concat(*(part for name in CELL for part in (name, Value("\n")))))


class EvidencePush(models.Model):
    """One set of evidence as it came in: stored whole or not at all. Immutable."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="evidence_pushes")
    # Over the digests of its items, in order of their names.
    digest = models.CharField(max_length=80)
    # How many it had, and how many of them were new; the others had come before.
    items = models.PositiveIntegerField()
    new = models.PositiveIntegerField()
    pushed_by = models.CharField(max_length=160)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "evidence pushes"
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(new__gte=1, new__lte=models.F("items")), name="push_brings_something"
            ),
        ]

    def __str__(self) -> str:
        return f"push {self.pk}: {self.new} of {self.items} new"


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
    # Of the single items, where they were given.
    scores = ArrayField(models.FloatField(), null=True)
    load_state = models.CharField(max_length=120, blank=True, default="")
    index_version = models.CharField(max_length=120, blank=True, default="")
    prompt_version = models.CharField(max_length=120, blank=True, default="")
    # As its sender said; null counts as the moment it came in.
    measured_at = models.DateTimeField(null=True)
    # Null for what came before sets were kept.
    push = models.ForeignKey(EvidencePush, models.PROTECT, null=True, related_name="cells")
    pushed_by = models.CharField(max_length=160)
    created_at = models.DateTimeField(db_default=Now())
    cell = models.GeneratedField(
        expression=cell_hash(), output_field=models.CharField(max_length=32), db_persist=True
    )

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
            # What a content rests on, by route and manifest.
            models.Index(fields=["product", "route", "manifest"], name="evidence_by_manifest"),
            # The last run of each cell, and one cell's history.
            models.Index(fields=["product", "manifest", "cell", "-id"], name="evidence_of_cell"),
            # The evidence page.
            models.Index(fields=["product", "-created_at", "-id"], name="evidence_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.suite} {self.suite_version}: {self.route}, {self.key or 'everything'}"

    @property
    def age_from(self) -> datetime:
        """When it was measured, or else when it came in."""
        return self.measured_at or self.created_at
