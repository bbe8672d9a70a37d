"""What everybody did: append-only, and chained."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now


class ActorKind(models.TextChoices):
    PERSON = "person", "Person"
    MACHINE = "machine", "Machine"
    SYSTEM = "system", "Orchid"


class AuditEvent(models.Model):
    """One act. Copied as text, so that it outlives who did it and what it was done to.

    Append-only: the application's database role can't change it, and a trigger stops the owner.
    """

    at = models.DateTimeField(db_default=Now())
    actor_kind = models.CharField(max_length=8, choices=ActorKind)
    actor = models.CharField(max_length=160)
    action = models.CharField(max_length=64)
    product_slug = models.CharField(max_length=64, blank=True)
    object_type = models.CharField(max_length=40, blank=True)
    object_id = models.CharField(max_length=80, blank=True)
    digest_before = models.CharField(max_length=80, blank=True)
    digest_after = models.CharField(max_length=80, blank=True)
    reason = models.TextField(blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [
            # The audit page: newest first, of everything, of a product, of an actor.
            models.Index(fields=["-at", "-id"], name="audit_newest"),
            models.Index(fields=["product_slug", "-at", "-id"], name="audit_of_product"),
            models.Index(fields=["actor", "-at", "-id"], name="audit_of_actor"),
            models.Index(fields=["object_type", "object_id"], name="audit_of_object"),
            # What was done to a content; a GIN index over `data`, in SQL, finds segments.
            models.Index(fields=["digest_after"], name="audit_after"),
            models.Index(fields=["digest_before"], name="audit_before"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action}"


class AuditPending(models.Model):
    """An event that the sealer hasn't chained yet; written with the event."""

    event = models.OneToOneField(AuditEvent, primary_key=True, on_delete=models.PROTECT)


class AuditSeal(models.Model):
    """One link of the chain: `hash` covers `previous` and the whole event. Append-only too."""

    seq = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(AuditEvent, on_delete=models.PROTECT, related_name="seal")
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    sealed_at = models.DateTimeField(db_default=Now())


class AuditHead(models.Model):
    """A signature over how far the chain went: its last link, by a key outside the database.

    Append-only too. The newest one vouches for everything before it.
    """

    seq = models.BigIntegerField(primary_key=True)
    hash = models.CharField(max_length=64)
    kid = models.CharField(max_length=64)
    token = models.TextField()
    signed_at = models.DateTimeField()
