"""A person's word that an inconclusive stage may go on, with a second person behind it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from gates.models import Evaluation
from releases.models.rollouts import Rollout
from releases.states import OverrideState


class Override(models.Model):
    """One inconclusive judgement of one stage, overridden: asked with a reason, then confirmed.

    Once confirmed it never changes; the database refuses it. Whether it is in force is computed.
    """

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="overrides")
    rollout = models.ForeignKey(Rollout, models.PROTECT, related_name="overrides")
    stage_index = models.PositiveIntegerField()
    publication = models.PositiveIntegerField()
    evaluation = models.ForeignKey(Evaluation, models.PROTECT, related_name="+")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    reason = models.TextField()
    state = models.CharField(
        max_length=9, choices=OverrideState.choices, default=OverrideState.ASKED
    )
    version = models.PositiveIntegerField(default=1)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-asked_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="releases_override_state", condition=Q(state__in=OverrideState.values)
            ),
            models.CheckConstraint(name="releases_override_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="releases_override_two_people", condition=~Q(confirmed_by=F("asked_by"))
            ),
            models.CheckConstraint(
                name="releases_override_confirmed_by_somebody",
                condition=Q(state="asked", confirmed_by__isnull=True, at__isnull=True)
                | Q(state="confirmed", confirmed_by__isnull=False, at__isnull=False),
            ),
            models.UniqueConstraint(
                name="releases_one_override_a_judgement", fields=["rollout", "evaluation"]
            ),
        ]
        indexes: ClassVar = [
            # The overrides that every later page shows.
            models.Index(fields=["product", "-asked_at", "-id"], name="releases_override_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.asked_by} at stage {self.stage_index} ({self.state})"

    @property
    def status(self) -> OverrideState:
        """The state as the enumeration, with its badge."""
        return OverrideState(self.state)
