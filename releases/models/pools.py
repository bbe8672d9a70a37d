"""What a generation that left service still holds, and how it was let go."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from releases.models.publications import DIGEST


class Reconciliation(models.Model):
    """A generation that no request is decided under any more, until its sequences have ended.

    `settled_at` is since when every edge has said that it holds none; empty while one may.
    """

    product = models.ForeignKey("policies.Product", models.CASCADE, related_name="+")
    digest = models.CharField(max_length=DIGEST)
    began_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_reconciliation", fields=["product", "digest"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.digest} since {self.began_at}"


class PoolRelease(models.Model):
    """Somebody let the pool of a generation go; a later publication of it needs it warm anew."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="pool_releases")
    digest = models.CharField(max_length=DIGEST)
    pool = models.CharField(max_length=100)
    publication = models.PositiveIntegerField()
    released_at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    reason = models.TextField()

    class Meta:
        ordering: ClassVar = ["-released_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="releases_release_reason", condition=~Q(reason="")),
            # Two clicks under one publication are one release.
            models.UniqueConstraint(
                name="releases_one_release", fields=["product", "digest", "publication"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pool} of {self.digest} at {self.released_at}"
