"""The windows that are judged, and every judgement."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from gates.states import Metric, VerdictState
from policies.models import Product


class Window(models.Model):
    """The requests that one generation answered under one publication, while they are judged."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="windows")
    digest = models.CharField(max_length=80)
    publication = models.PositiveIntegerField()
    cohort = models.CharField(max_length=16)
    # Activation on the required share of edges; earlier requests belong to another window.
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True)
    exposure = models.FloatField()
    # How far it has been judged, and under which liveness of the traffic; the tick compares both.
    judged_to = models.DateTimeField(null=True)
    judged_state = models.CharField(max_length=16, blank=True, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "publication", "cohort"], name="window_once"
            ),
            models.CheckConstraint(
                condition=Q(exposure__gt=0, exposure__lte=1), name="window_exposes_something"
            ),
            models.CheckConstraint(
                condition=Q(closes_at__isnull=True) | Q(closes_at__gte=F("opens_at")),
                name="window_closes_after_it_opens",
            ),
        ]
        indexes: ClassVar = [
            # Figures of a generation, newest window first.
            models.Index(fields=["product", "digest", "-opens_at"], name="window_by_digest"),
            # What the tick looks at.
            models.Index(fields=["id"], condition=Q(closes_at__isnull=True), name="window_open"),
        ]

    def __str__(self) -> str:
        return f"{self.product.slug} publication {self.publication}, {self.cohort}"


class Evaluation(models.Model):
    """One judgement of a window: its validity, the verdict, and every figure behind it."""

    window = models.ForeignKey(Window, models.PROTECT, related_name="evaluations")
    watermark = models.DateTimeField()
    # Over everything that the judgement rests on: equal inputs are one evaluation.
    inputs_digest = models.CharField(max_length=80)
    evidence_digest = models.CharField(max_length=80)
    evaluated_at = models.DateTimeField()
    validity = models.JSONField()
    verdict = models.CharField(max_length=16, choices=VerdictState)
    reasons = models.JSONField(default=list)
    figures = models.JSONField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["window", "inputs_digest"], name="evaluation_once"),
        ]
        indexes: ClassVar = [
            # The latest of a window, and its history.
            models.Index(fields=["window", "-evaluated_at", "-id"], name="evaluation_newest"),
        ]


class Verdict(models.Model):
    """One gate of an evaluation, over the whole ("") or one gated segment."""

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="verdicts")
    metric = models.CharField(max_length=32, choices=Metric)
    segment = models.CharField(max_length=80, blank=True)
    verdict = models.CharField(max_length=16, choices=VerdictState)
    # Decimal text in the metric's unit; null is unknown.
    value = models.CharField(max_length=40, null=True)  # noqa: DJ001  unknown is not empty
    bound = models.CharField(max_length=40)
    margin = models.CharField(max_length=40, null=True)  # noqa: DJ001  unknown is not empty
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    n = models.PositiveBigIntegerField()
    n_effective = models.FloatField()
    minimum = models.PositiveBigIntegerField()
    # Natural logarithms; null for gates that are no test of a share.
    log_e_pass = models.FloatField(null=True)
    log_e_fail = models.FloatField(null=True)
    needs = models.PositiveBigIntegerField(null=True)
    fragile = models.BooleanField(default=False)
    message = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "metric", "segment"], name="one_verdict_a_gate"
            ),
        ]
