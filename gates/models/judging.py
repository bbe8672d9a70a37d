"""The windows that are judged, and every judgement."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from gates.states import Action, Metric, VerdictState
from policies.models import Product


class Window(models.Model):
    """The requests that one generation answered under one publication, while they are judged."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="windows")
    digest = models.CharField(max_length=80)
    publication = models.PositiveIntegerField()
    cohort = models.CharField(max_length=16)
    # Activation on the required share of edges; what came earlier lets nothing go on.
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True)
    exposure = models.FloatField()
    # Segments of which another part is the candidate's: [{"where", "fraction"}].
    by_segment = models.JSONField(default=list)
    # When a stage of a rollout has been watched for long enough; null where there is no stage, or
    # its clock doesn't run yet.
    hold_until = models.DateTimeField(null=True)
    # From when no rollout waits for its verdict; what is live is judged by stretches from then on.
    live_from = models.DateTimeField(null=True)
    # What the approvers of a stage's generation accepted, as bounds of its own: by metric, then by
    # gated segment ("" is the whole), {"bound": text, "accepted": text, "side": "max" or "min"}.
    accepted = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "publication", "cohort"], name="window_once"
            ),
            models.CheckConstraint(
                condition=Q(exposure__gt=0, exposure__lte=1)
                | Q(exposure__gte=0, exposure__lte=1) & ~Q(by_segment=[]),
                name="window_exposes_something",
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

    @property
    def is_split(self) -> bool:
        """Whether another generation answers a part of the traffic."""
        return self.exposure < 1 or bool(self.by_segment)

    @property
    def is_ahead(self) -> bool:
        """Whether a stage is looked at for harm only, until enough of the fleet runs it."""
        return self.hold_until is None and self.live_from is None


class Evaluation(models.Model):
    """One judgement of a window: its validity, the verdict, the action, and every figure."""

    window = models.ForeignKey(Window, models.PROTECT, related_name="evaluations")
    watermark = models.DateTimeField()
    # Of the case, which is everything that the judgement rests on: as long as the inputs stay equal
    # it is one evaluation. Where they come back after others, a row tells so in its turn.
    inputs_digest = models.CharField(max_length=80)
    # How often these inputs had held of the window before, and given way to others.
    again = models.PositiveIntegerField(db_default=0, default=0)
    # Of the judgement's own spelling: judging the case again gives the same.
    outcome_digest = models.CharField(max_length=80, blank=True, default="")
    evidence_digest = models.CharField(max_length=80)
    evaluated_at = models.DateTimeField()
    validity = models.JSONField()
    verdict = models.CharField(max_length=16, choices=VerdictState)
    action = models.CharField(max_length=16, choices=Action, default=Action.HOLD)
    # Why the policy answers so.
    why = models.TextField(blank=True, default="")
    reasons = models.JSONField(default=list)
    figures = models.JSONField()
    # Whether any gate, the whole or the action says something else than the judgement before.
    changed = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["window", "inputs_digest", "again"], name="evaluation_once"
            ),
        ]
        indexes: ClassVar = [
            # A window's history.
            models.Index(fields=["window", "-evaluated_at", "-id"], name="evaluation_newest"),
            # The changes among it: what a picture may not leave out.
            models.Index(
                fields=["window", "-evaluated_at", "-id"],
                condition=Q(changed=True),
                name="evaluation_changed",
            ),
            # Every judgement of a product, newest first.
            models.Index(fields=["-evaluated_at", "-id"], name="evaluation_by_time"),
        ]


class Verdict(models.Model):
    """One gate of an evaluation, over the whole ("") or one gated segment."""

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="verdicts")
    # A gate's metric; after `guardrail:` a guardrail's measure, after `accepted:` the metric of an
    # accepted figure.
    metric = models.CharField(max_length=100, choices=Metric)
    segment = models.CharField(max_length=400, blank=True)
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
    # How long they take to come at the rate of the window.
    needs_s = models.FloatField(null=True)
    fragile = models.BooleanField(default=False)
    message = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "metric", "segment"], name="one_verdict_a_gate"
            ),
        ]


class Watch(models.Model):
    """How a window is watched: what holds of it now, and with what its next judgement begins.

    Its row is the lease of the one evaluation that runs: it is locked from reading to storing.
    """

    window = models.OneToOneField(Window, models.CASCADE, primary_key=True, related_name="watch")
    # The judgement that holds now.
    evaluation = models.ForeignKey(Evaluation, models.PROTECT, null=True, related_name="watch")
    looked_at = models.DateTimeField(null=True)
    judged_to = models.DateTimeField(null=True)
    # The gravest state of the last validity checks: while it is not ok, time alone can change it.
    state = models.CharField(max_length=16, blank=True, default="")
    # The detector at `since`, and after the steps from there to `watched_to`. The same moment is
    # judged from the same state, however often.
    since = models.DateTimeField(null=True)
    watched_to = models.DateTimeField(null=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    # When the stretch of each scope began that could not start anew with the others.
    starts = models.JSONField(default=dict)
    # Violations seen in the step that is not over yet.
    running_violations = models.PositiveBigIntegerField(default=0)
    # How many of the asked judgements this one answers.
    answered = models.PositiveBigIntegerField(default=0)


class Mark(models.Model):
    """Somebody asked for a judgement. Whoever asks never waits for one that runs.

    However many ask before an evaluation begins, one answers them all: `asked` counts them, and
    `queued` is true while a message for it is on its way.
    """

    window = models.OneToOneField(Window, models.CASCADE, primary_key=True, related_name="mark")
    asked = models.PositiveBigIntegerField(default=0)
    queued = models.BooleanField(default=False)


class CaseBody(models.Model):
    """The bytes of a case, deflated, by their digest."""

    digest = models.CharField(max_length=80, primary_key=True)
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())
    # Null is for ever: a verdict changed there, or somebody rests on it.
    kept_until = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            # What retention takes away.
            models.Index(
                fields=["kept_until"],
                condition=Q(kept_until__isnull=False),
                name="case_kept_until",
            ),
        ]
