"""People, their roles, and how they come in."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.roles import EVERY_PRODUCT, PEOPLE, Role

ROLE_CHOICES_OF_PEOPLE = [(role.value, role.label) for role in PEOPLE]


class NameField(models.CharField):  # type: ignore[type-arg] # no generic where it runs
    """A name in one spelling (NFKC), as signing in reads it: whoever writes it or looks it up."""

    def get_prep_value(self, value: Any) -> Any:
        return AbstractUser.normalize_username(super().get_prep_value(value))

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = self.get_prep_value(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, value)
        return value

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs  # nothing else in the database


class User(AbstractUser):
    """A person. What they may do is in their grants, never in `is_superuser`."""

    username = NameField(**AbstractUser._meta.get_field("username").deconstruct()[3])
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
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.email} as {Role(self.role).label}"


class FailedSignIn(models.Model):
    """A wrong password, kept for as long as it counts against the next guess."""

    name = models.CharField(max_length=150)
    address = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [
            # How often was this name guessed of late, and how often was wrong from here?
            models.Index(fields=["name", "at"], name="failures_of_a_name"),
            models.Index(fields=["address", "at"], name="failures_from_an_address"),
        ]


class ResetAsked(models.Model):
    """A new password was asked for, by an e-mail address that may be nobody's."""

    email = models.CharField(max_length=254)
    address = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes: ClassVar = [
            # How many mails of late to this person, and how many by this machine?
            models.Index(fields=["email", "at"], name="resets_of_an_email"),
            models.Index(fields=["address", "at"], name="resets_from_an_address"),
        ]
