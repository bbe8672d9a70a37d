"""Decisions that reopened themselves, and cases that a product declares."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from accounts.roles import Role
from gates.states import RevisitState
from policies.models import Product


class RevisitItem(models.Model):
    """One condition that broke under one generation, waiting for the role that owns it.

    It stays the item of its breach until the condition held again; the next breach is a new one.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="revisit_items")
    digest = models.CharField(max_length=80)
    publication = models.PositiveIntegerField()
    trigger = models.CharField(max_length=80)
    # Which gate, floor, route or server; empty where the trigger has one only.
    subject = models.CharField(max_length=400, blank=True, default="")
    owner = models.CharField(max_length=16, choices=Role)
    state = models.CharField(max_length=16, choices=RevisitState, default=RevisitState.OPEN)
    version = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()
    # When the condition was last seen broken, and when it held again (null while it is broken).
    seen_at = models.DateTimeField()
    recovered_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=160, blank=True, default="")
    resolved_by = models.CharField(max_length=160, blank=True, default="")
    resolved_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, default="")
    # Figures, bounds, window and evaluation as they were when it opened.
    evidence = models.JSONField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "digest", "trigger", "subject"],
                condition=Q(recovered_at__isnull=True),
                name="one_item_a_breach",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at__isnull=True, state__in=["open", "acknowledged"])
                | Q(resolved_at__isnull=False, state="resolved"),
                name="revisit_resolved_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(seen_at__gte=F("opened_at")), name="revisit_seen_after_it_opened"
            ),
        ]
        indexes: ClassVar = [
            # The list, newest first.
            models.Index(fields=["product", "-opened_at", "-id"], name="revisit_newest"),
            # What waits for somebody: the count on other pages.
            models.Index(
                fields=["product", "owner"],
                condition=~Q(state="resolved"),
                name="revisit_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product.slug}: {self.trigger} {self.subject}".strip()

    @property
    def status(self) -> RevisitState:
        return RevisitState(self.state)

    @property
    def is_broken(self) -> bool:
        """Whether the condition still is as it was when the item opened."""
        return self.recovered_at is None


class DeclaredCase(models.Model):
    """A change with its figures as a product states them. Data, never recomputed."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="declared_cases")
    name = models.CharField(max_length=200)
    text = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["product", "name"], name="declared_case_once"),
        ]

    def __str__(self) -> str:
        return self.name
