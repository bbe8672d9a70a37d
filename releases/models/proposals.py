"""A request that a generation go live, and the people who decide on it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from releases.models.publications import DIGEST
from releases.states import (
    OPEN_PROPOSALS,
    Choice,
    Part,
    ProposalState,
)


class Proposal(models.Model):
    """A request that one generation, by digest, become what the fleet is asked to run."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="proposals")
    generation = models.ForeignKey("policies.Generation", models.PROTECT, related_name="proposals")
    revision_digest = models.CharField(max_length=DIGEST)
    base_publication = models.PositiveIntegerField(null=True)
    base_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    state = models.CharField(
        max_length=12, choices=ProposalState.choices, default=ProposalState.DRAFT
    )
    round = models.PositiveIntegerField(default=1)
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=200)
    rationale = models.TextField(blank=True)
    author = models.CharField(max_length=150)
    author_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    owner_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    evidence_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    # What people had written into the decision record; empty where all of it was generated.
    record_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    trade = models.JSONField(default=dict)
    trade_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    required = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    # The promise is the wall clock of a zone; the instant is what it came to when it was promised.
    publish_at = models.DateTimeField(null=True)
    publish_local = models.CharField(max_length=25, blank=True, default="")
    publish_zone = models.CharField(max_length=64, blank=True, default="")
    returned_why = models.TextField(blank=True, default="")

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="releases_proposal_state", condition=Q(state__in=ProposalState.values)
            ),
            models.UniqueConstraint(
                name="releases_one_open_proposal_a_generation",
                fields=["generation"],
                condition=Q(state__in=OPEN_PROPOSALS),
            ),
            models.CheckConstraint(
                name="releases_proposal_schedule",
                condition=Q(publish_at__isnull=True, publish_local="", publish_zone="")
                | Q(publish_at__isnull=False) & ~Q(publish_local="") & ~Q(publish_zone=""),
            ),
        ]
        indexes: ClassVar = [
            # The list of a product, newest first, and the cursor of the API.
            models.Index(fields=["product", "-created_at", "-id"], name="releases_proposal_list"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.get_state_display()})"

    @property
    def status(self) -> ProposalState:
        """The state as the enumeration, with its badge."""
        return ProposalState(self.state)

    @property
    def publish_words(self) -> str:
        """The time on the wall as people write it; its zone stands beside it."""
        return self.publish_local.replace("T", " ")


class Contributor(models.Model):
    """A person who had a hand in a proposal and so may not vote on it, in any round."""

    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="contributors")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    part = models.CharField(max_length=12, choices=Part.choices)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_contributor_once", fields=["proposal", "user", "part"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.get_part_display()}"


class Vote(models.Model):
    """One person's decision in one round, bound to everything that was on the page."""

    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="votes")
    round = models.PositiveIntegerField()
    bound_digest = models.CharField(max_length=DIGEST)
    # The content among what it is bound to; whatever the proposal says later, the vote was on this.
    content_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    role = models.CharField(max_length=20)
    decision = models.CharField(max_length=7, choices=Choice.choices)
    reason = models.TextField()
    at = models.DateTimeField()
    void = models.BooleanField(default=False)
    void_why = models.TextField(blank=True, default="")

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_vote_a_person_and_round", fields=["proposal", "round", "user"]
            ),
            models.CheckConstraint(name="releases_vote_reason", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.decision}"


class Comment(models.Model):
    """What somebody said about a proposal; it stays as it was said and decides nothing."""

    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="comments")
    round = models.PositiveIntegerField()
    author = models.CharField(max_length=150)
    author_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="releases_comment_text", condition=~Q(text="")),
        ]
        indexes: ClassVar = [
            # What was said about a proposal, in order, and the cursor of the API.
            models.Index(fields=["proposal", "at", "id"], name="releases_comments"),
        ]

    def __str__(self) -> str:
        return f"{self.author}: {self.text}"
