"""People, their roles, the credentials of machines, and what everybody did."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.roles import EVERY_PRODUCT, MACHINES, PEOPLE, Role

ROLE_CHOICES_OF_PEOPLE = [(role.value, role.label) for role in PEOPLE]
KIND_CHOICES = [(role.value, role.label) for role in MACHINES]


class User(AbstractUser):
    """A person. What they may do is in their grants, never in `is_superuser`."""

    display_name = models.CharField(max_length=120, blank=True)

    @property
    def name(self) -> str:
        return self.display_name or self.username


class Grant(models.Model):
    """One role of one person in one product, named by slug; `*` is every product."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    product_slug = models.CharField(max_length=64, default=EVERY_PRODUCT)
    role = models.CharField(max_length=24, choices=ROLE_CHOICES_OF_PEOPLE)
    granted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "product_slug", "role"], name="one_grant_each"),
            models.CheckConstraint(
                condition=Q(role__in=[role.value for role in PEOPLE]), name="grant_role_of_a_person"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.get_role_display()} of {self.product_slug}"


class Credential(models.Model):
    """What a machine shows to be known. Only a hash is kept; the token is shown once."""

    kind = models.CharField(max_length=8, choices=KIND_CHOICES)
    name = models.CharField(max_length=80)
    product_slug = models.CharField(max_length=64)
    token_hash = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=20)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="credentials")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product_slug", "kind", "name"],
                condition=Q(revoked_at__isnull=True),
                name="one_live_credential_by_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.prefix}...)"


class Invitation(models.Model):
    """A promise of a role to whoever opens the link before it expires. The secret is hashed."""

    email = models.EmailField()
    product_slug = models.CharField(max_length=64, default=EVERY_PRODUCT)
    role = models.CharField(max_length=24, choices=ROLE_CHOICES_OF_PEOPLE)
    secret_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT)

    def __str__(self) -> str:
        return f"{self.email} as {Role(self.role).label}"


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


class IdempotentAnswer(models.Model):
    """The first answer to a POST with an Idempotency-Key; the same POST gets it again."""

    actor = models.CharField(max_length=160)
    key = models.CharField(max_length=128)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["actor", "key"], name="one_answer_a_key")
        ]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="answers_to_forget")]


class FailedSignIn(models.Model):
    """A wrong password, kept for as long as it counts against the next guess."""

    name = models.CharField(max_length=150)
    address = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [
            # How often was this name guessed of late?
            models.Index(fields=["name", "at"], name="failures_of_a_name")
        ]
