"""The way of a candidate through its stages."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

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
