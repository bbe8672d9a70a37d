"""Who decided, what is live, and what each edge says about it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from releases.states import (
    OPEN_PROPOSALS,
    OPEN_ROLLOUTS,
    ActivationState,
    Choice,
    Part,
    ProposalState,
    PublicationKind,
    RolloutState,
)

DIGEST = 71  # characters: "sha256:" and 64 hexadecimal digits


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
    trade = models.JSONField(default=dict)
    trade_digest = models.CharField(max_length=DIGEST, blank=True, default="")
    required = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)

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
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    role = models.CharField(max_length=20)
    decision = models.CharField(max_length=7, choices=Choice.choices)
    reason = models.TextField()
    at = models.DateTimeField()
    void = models.BooleanField(default=False)

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


class Publication(models.Model):
    """One admission generation: a number that only grows, what it serves, and its signed bundle.

    All but the signature's own columns (token, etag, kid, issued_at, expires_at) never change;
    the database refuses it.
    """

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="publications")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=PublicationKind.choices)
    incumbent_digest = models.CharField(max_length=DIGEST)
    candidate_digest = models.CharField(max_length=DIGEST, null=True)  # noqa: DJ001 - none differs from ""
    fraction = models.FloatField(default=0.0)
    stage = models.PositiveIntegerField(default=0)
    pools = models.JSONField(default=dict)
    token = models.TextField()
    etag = models.CharField(max_length=80)
    kid = models.CharField(max_length=64)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_publication_number", fields=["product", "number"]
            ),
            models.CheckConstraint(
                name="releases_publication_from_one", condition=Q(number__gte=1)
            ),
            models.CheckConstraint(
                name="releases_publication_fraction",
                condition=Q(fraction__gte=0.0) & Q(fraction__lte=1.0),
            ),
            models.CheckConstraint(
                name="releases_publication_two_digests",
                condition=Q(candidate_digest__isnull=True, fraction=0.0)
                | Q(candidate_digest__isnull=False) & ~Q(candidate_digest=F("incumbent_digest")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product_id}/{self.number} {self.kind}"

    @property
    def target_digest(self) -> str:
        """The content this publication leads to: the candidate where there is one."""
        return self.candidate_digest or self.incumbent_digest

    @property
    def served(self) -> tuple[str, ...]:
        """The digests that new requests may be decided under, the incumbent first."""
        if self.candidate_digest is None or self.fraction == 0.0:
            return (self.incumbent_digest,)
        if self.fraction == 1.0:
            return (self.candidate_digest,)
        return (self.incumbent_digest, self.candidate_digest)


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


class Edge(models.Model):
    """A gateway that enforces what is published, known by its own credential."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="edges")
    name = models.CharField(max_length=100)
    credential = models.OneToOneField("accounts.Credential", models.PROTECT, related_name="+")
    share = models.FloatField(default=1.0)
    registered_at = models.DateTimeField()
    pinned_kids = models.JSONField(default=list)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(name="releases_edge_name", fields=["product", "name"]),
            models.CheckConstraint(name="releases_edge_share", condition=Q(share__gte=0.0)),
        ]

    def __str__(self) -> str:
        return self.name


class Activation(models.Model):
    """What one edge answered to one publication; `at` is when it first said so."""

    edge = models.ForeignKey(Edge, models.CASCADE, related_name="activations")
    publication = models.ForeignKey(Publication, models.PROTECT, related_name="activations")
    state = models.CharField(max_length=8, choices=ActivationState.choices)
    reason = models.TextField(blank=True, default="")
    at = models.DateTimeField()
    reported_at = models.DateTimeField()
    open_sequences = models.JSONField(default=dict)
    clock_skew_ms = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_activation", fields=["edge", "publication", "state"]
            ),
            models.CheckConstraint(
                name="releases_activation_state", condition=Q(state__in=ActivationState.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.publication_id} {self.state}"


class EdgeSeen(models.Model):
    """The last thing heard from an edge: when, what it runs, what it still owes."""

    edge = models.OneToOneField(Edge, models.CASCADE, related_name="seen", primary_key=True)
    at = models.DateTimeField()
    active_publication = models.PositiveIntegerField(null=True)
    open_sequences = models.JSONField(default=dict)
    clock_skew_ms = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.edge_id} at {self.at}"
