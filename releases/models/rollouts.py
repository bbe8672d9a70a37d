"""The way of a candidate through its stages."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from gates.models import Evaluation
from releases.models.proposals import Proposal
from releases.models.publications import DIGEST, Publication
from releases.states import (
    OPEN_ROLLOUTS,
    RolloutState,
)


class Rollout(models.Model):
    """The way of one candidate through the stages its document declares."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="rollouts")
    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="rollouts")
    first = models.ForeignKey(Publication, models.PROTECT, related_name="+")
    publication = models.ForeignKey(Publication, models.PROTECT, related_name="+")
    candidate_digest = models.CharField(max_length=DIGEST)
    state = models.CharField(
        max_length=12, choices=RolloutState.choices, default=RolloutState.RUNNING
    )
    stage_index = models.PositiveIntegerField(default=0)
    stage_opened_at = models.DateTimeField(null=True)
    # Segments at a stage of their own: [{"segment", "stage", "held"}], by name.
    vector = models.JSONField(default=list)
    version = models.PositiveIntegerField(default=1)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="releases_rollout_state", condition=Q(state__in=RolloutState.values)
            ),
            models.UniqueConstraint(
                name="releases_one_open_rollout_a_product",
                fields=["product"],
                condition=Q(state__in=OPEN_ROLLOUTS),
            ),
        ]

    def __str__(self) -> str:
        return f"rollout {self.pk} at stage {self.stage_index} ({self.state})"

    @property
    def status(self) -> RolloutState:
        """The state as the enumeration, with its badge."""
        return RolloutState(self.state)


class StageApproval(models.Model):
    """A person's yes to what a stage has shown, where the policy asks for one before the next.

    It is bound to the publication: resumed or entered anew, a stage asks again. `segments` are
    those apart that it is for, "" the rest: what was not ready yet asks for a yes of its own.
    """

    rollout = models.ForeignKey(Rollout, models.PROTECT, related_name="approvals")
    publication = models.ForeignKey(Publication, models.PROTECT, related_name="+")
    stage_index = models.PositiveIntegerField()
    segments = models.JSONField(default=list)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    role = models.CharField(max_length=20)
    reason = models.TextField()
    # The judgement that was before this person's eyes; null where the stage is judged by no gate.
    evaluation = models.ForeignKey(Evaluation, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_approval_a_person",
                fields=["rollout", "publication", "user", "segments"],
            ),
            models.CheckConstraint(name="releases_stage_approval_reason", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.user} at stage {self.stage_index}"
