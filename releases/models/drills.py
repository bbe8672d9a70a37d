"""Rehearsals of a rollback: what was offered to the edges, and what each made of it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from releases.models.edges import Edge
from releases.models.publications import DIGEST, Publication
from releases.states import DrillAnswerState


class Drill(models.Model):
    """One rehearsal. Nothing is published; the signed bytes can't be taken for a bundle."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="drills")
    publication = models.ForeignKey(Publication, models.PROTECT, related_name="+")
    digest = models.CharField(max_length=DIGEST)
    pool = models.CharField(max_length=100)
    token = models.TextField()
    prepared_ms = models.FloatField()
    started_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    asked = models.JSONField(default=list)
    silent = models.JSONField(default=list)
    actor = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")

    class Meta:
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [
            # The last drill of a product, and its list, newest first.
            models.Index(fields=["product", "-started_at", "-id"], name="releases_drill_newest"),
        ]

    def __str__(self) -> str:
        return f"drill {self.pk} at {self.started_at}"


class DrillAnswer(models.Model):
    """What one edge made of a drill: could it have activated, how long that took, what is ready."""

    drill = models.ForeignKey(Drill, models.CASCADE, related_name="answers")
    edge = models.ForeignKey(Edge, models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, choices=DrillAnswerState.choices)
    reason = models.TextField(blank=True, default="")
    at = models.DateTimeField()
    fetch_ms = models.FloatField(null=True)
    prepare_ms = models.FloatField(null=True)
    replicas = models.PositiveIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="releases_one_drill_answer", fields=["drill", "edge"]),
            models.CheckConstraint(
                name="releases_drill_answer_state",
                condition=Q(state__in=DrillAnswerState.values),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.state}"
