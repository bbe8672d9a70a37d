"""What was done alone in an emergency, and the second look that it owes."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from releases.models.publications import Publication
from releases.states import OPEN_SECOND_LOOKS, SecondLookKind, SecondLookState


class SecondLook(models.Model):
    """A look that somebody else owes to what one person did alone, until `due_at`."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="second_looks")
    kind = models.CharField(max_length=20, choices=SecondLookKind.choices)
    publication = models.OneToOneField(Publication, models.PROTECT, related_name="second_look")
    state = models.CharField(
        max_length=10, choices=SecondLookState.choices, default=SecondLookState.OPEN
    )
    version = models.PositiveIntegerField(default=1)
    asked_of = models.JSONField(default=list)
    actor = models.CharField(max_length=150)
    actor_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    reason = models.TextField()
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    looked_by = models.CharField(max_length=150, blank=True, default="")
    looked_at = models.DateTimeField(null=True)
    words = models.TextField(blank=True, default="")

    class Meta:
        ordering: ClassVar = ["-opened_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="releases_second_look_state", condition=Q(state__in=SecondLookState.values)
            ),
            models.CheckConstraint(
                name="releases_second_look_kind", condition=Q(kind__in=SecondLookKind.values)
            ),
            models.CheckConstraint(name="releases_second_look_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="releases_second_look_said",
                condition=Q(state__in=OPEN_SECOND_LOOKS)
                | Q(looked_at__isnull=False) & ~Q(looked_by="") & ~Q(words=""),
            ),
        ]
        indexes: ClassVar = [
            # The tick's and the overview's: what still waits in a product?
            models.Index(
                fields=["product", "due_at"],
                name="releases_second_look_open",
                condition=Q(state__in=OPEN_SECOND_LOOKS),
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.publication_id}: {self.get_state_display()}"

    @property
    def status(self) -> SecondLookState:
        """The state as the enumeration, with its badge."""
        return SecondLookState(self.state)
