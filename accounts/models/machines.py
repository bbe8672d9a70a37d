"""What machines show to be known."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Now

from accounts.models.people import User
from accounts.roles import MACHINES

KIND_CHOICES = [(role.value, role.label) for role in MACHINES]


class Credential(models.Model):
    """What a machine shows to be known. Only a hash is kept; the token is shown once."""

    kind = models.CharField(max_length=8, choices=KIND_CHOICES)
    name = models.CharField(max_length=80)
    product_slug = models.CharField(max_length=64)
    token_hash = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=20)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="credentials")
    # Permissions that it is cut down to; empty is everything that its kind may.
    scopes = ArrayField(
        models.CharField(max_length=24), default=list, blank=True, db_default=Value([])
    )
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # A newer one of the same name took over; until it expires this one still counts.
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product_slug", "kind", "name"],
                condition=Q(revoked_at__isnull=True, superseded_at__isnull=True),
                name="one_live_credential_by_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.prefix}...)"
