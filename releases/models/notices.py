"""What people and their systems are told, where it is sent, and what became of it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from releases.states import DeliveryState, NoticeKind


class Webhook(models.Model):
    """An address that is told of a product's events, each signed with a secret of its own.

    The secret is kept sealed by the key of this installation, which is a file and no row.
    """

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=500)
    kinds = models.JSONField(default=list)
    sealed_secret = models.TextField()
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_webhook_once",
                fields=["product", "url"],
                condition=Q(ended_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """Without its path, which may be a secret itself."""
        return "/".join(self.url.split("/")[:3])


class Notice(models.Model):
    """One thing that happened or that waits for somebody, told once: `key` names the fact."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="notices")
    kind = models.CharField(max_length=12, choices=NoticeKind.choices)
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    path = models.CharField(max_length=300)
    at = models.DateTimeField()
    made_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(name="releases_notice_once", fields=["product", "key"]),
            models.CheckConstraint(
                name="releases_notice_kind", condition=Q(kind__in=NoticeKind.values)
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Delivery(models.Model):
    """One notice on its way to one address, a webhook's or a person's, with its tries."""

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(Webhook, models.PROTECT, null=True, related_name="deliveries")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    state = models.CharField(
        max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    words = models.CharField(max_length=300, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="releases_delivery_to_one",
                condition=Q(webhook__isnull=False, user__isnull=True)
                | Q(webhook__isnull=True, user__isnull=False),
            ),
            models.UniqueConstraint(
                name="releases_delivery_once",
                fields=["notice", "webhook", "user"],
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="releases_delivery_state", condition=Q(state__in=DeliveryState.values)
            ),
        ]
        indexes: ClassVar = [
            # The tick: what is due to be sent.
            models.Index(
                fields=["due_at"], name="releases_delivery_due", condition=Q(state="waiting")
            )
        ]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.webhook_id or self.user_id}: {self.state}"

    @property
    def status_of(self) -> DeliveryState:
        """The state as the enumeration, with its badge."""
        return DeliveryState(self.state)

    @property
    def to(self) -> str:
        """Whom it goes to: a host, or a person."""
        if self.webhook is not None:
            return self.webhook.host
        assert self.user is not None, "a delivery has one addressee"
        return self.user.get_username()
