"""Admission generations: numbers that only grow, with what each serves."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from releases.states import (
    PublicationKind,
)

DIGEST = 71  # characters: "sha256:" and 64 hexadecimal digits


class Publication(models.Model):
    """One admission generation: a number that only grows, what it serves, and its signed bundle.

    All but the signature's own columns (token, etag, kid, issued_at, expires_at) never change;
    the database refuses it. `published_at` is when the number was taken, `issued_at` when it was
    last signed.
    """

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="publications")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=PublicationKind.choices)
    incumbent_digest = models.CharField(max_length=DIGEST)
    candidate_digest = models.CharField(max_length=DIGEST, null=True)  # noqa: DJ001 - none differs from ""
    fraction = models.FloatField(default=0.0)
    # Segments that have another fraction: [{"segment", "where", "fraction", "stage"}].
    by_segment = models.JSONField(default=list)
    stage = models.PositiveIntegerField(default=0)
    pools = models.JSONField(default=dict)
    token = models.TextField()
    etag = models.CharField(max_length=80)
    kid = models.CharField(max_length=64)
    published_at = models.DateTimeField()
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
        if self.candidate_digest is None or (self.fraction == 0.0 and not self.by_segment):
            return (self.incumbent_digest,)
        if self.fraction == 1.0 and not self.by_segment:
            return (self.candidate_digest,)
        return (self.incumbent_digest, self.candidate_digest)
