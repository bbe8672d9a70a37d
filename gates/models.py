"""Evidence, the windows that are judged, every judgement, points that a product declares, and what
another document would have decided."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from gates.states import DiffStatus, EvidenceKind, Metric, VerdictState
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


class DeclaredPoint(models.Model):
    """An outcome that a product states beside its measurements. Data, never recomputed."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="declared_points")
    name = models.CharField(max_length=120)
    utility = models.FloatField(null=True)
    p95_ms = models.FloatField(null=True)
    success_per_s = models.DecimalField(max_digits=12, decimal_places=3, null=True)
    attainment = models.FloatField(null=True)
    cost_per_success_usd = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    ledger_usd_per_h = models.DecimalField(max_digits=16, decimal_places=4, null=True)
    outcome = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["product", "name"], name="declared_point_once"),
        ]

    def __str__(self) -> str:
        return self.name


class DecisionDiff(models.Model):
    """How two documents decide the recorded requests. Immutable, by trigger, once it is done."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="decision_diffs")
    base_digest = models.CharField(max_length=80)
    digest = models.CharField(max_length=80)
    status = models.CharField(max_length=8, choices=DiffStatus, default=DiffStatus.QUEUED)
    reason = models.TextField(blank=True, default="")
    asked_by = models.CharField(max_length=160)
    # Requests that arrived later are not part of it.
    asked_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    done_at = models.DateTimeField(null=True)
    # Arrival of the first and of the last request that was compared; null where there was none.
    records_from = models.DateTimeField(null=True)
    records_to = models.DateTimeField(null=True)
    # False when the time was over before every request was compared.
    is_whole = models.BooleanField(default=True)
    requests = models.PositiveBigIntegerField(default=0)
    changed = models.PositiveBigIntegerField(default=0)
    content = models.JSONField(default=dict)
    # Over both documents and the id of every request in it.
    inputs_digest = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "base_digest", "digest"],
                condition=Q(status__in=["queued", "running"]),
                name="one_open_diff_a_pair",
            ),
            models.CheckConstraint(
                condition=Q(changed__lte=F("requests")), name="diff_changes_what_it_compared"
            ),
        ]
        indexes: ClassVar = [
            # The newest of a pair: what a proposal shows.
            models.Index(fields=["product", "base_digest", "digest", "-id"], name="diff_of_pair"),
            # What the sweep looks at.
            models.Index(
                fields=["id"], condition=Q(status__in=["queued", "running"]), name="diff_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product.slug}: {self.base_digest} against {self.digest}"

    @property
    def is_done(self) -> bool:
        return self.status == DiffStatus.DONE

    @property
    def is_open(self) -> bool:
        """Whether a page that shows it should look again."""
        return self.status in DiffStatus.open()

    @property
    def changed_share(self) -> float | None:
        """None where nothing was recorded."""
        return self.changed / self.requests if self.requests else None
