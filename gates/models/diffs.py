"""What another document would have decided."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from gates.states import DiffStatus
from policies.models import Product


class DecisionDiff(models.Model):
    """How two documents decide the recorded requests. Immutable, by trigger, once it is done."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="decision_diffs")
    base_digest = models.CharField(max_length=80)
    digest = models.CharField(max_length=80)
    status = models.CharField(max_length=8, choices=DiffStatus, default=DiffStatus.QUEUED)
    reason = models.TextField(blank=True, default="")
    asked_by = models.CharField(max_length=160)
    # Requests that arrived later are not part of it.
    asked_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    done_at = models.DateTimeField(null=True)
    # Arrival of the first and of the last request that was compared; null where there was none.
    records_from = models.DateTimeField(null=True)
    records_to = models.DateTimeField(null=True)
    # False when the time was over before every request was compared.
    is_whole = models.BooleanField(default=True)
    requests = models.PositiveBigIntegerField(default=0)
    changed = models.PositiveBigIntegerField(default=0)
    content = models.JSONField(default=dict)
    # Over both documents and the id of every request in it.
    inputs_digest = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "base_digest", "digest"],
                condition=Q(status__in=["queued", "running"]),
                name="one_open_diff_a_pair",
            ),
            models.CheckConstraint(
                condition=Q(changed__lte=F("requests")), name="diff_changes_what_it_compared"
            ),
        ]
        indexes: ClassVar = [
            # The newest of a pair: what a proposal shows.
            models.Index(fields=["product", "base_digest", "digest", "-id"], name="diff_of_pair"),
            # What the sweep looks at.
            models.Index(
                fields=["id"], condition=Q(status__in=["queued", "running"]), name="diff_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product.slug}: {self.base_digest} against {self.digest}"

    @property
    def is_done(self) -> bool:
        return self.status == DiffStatus.DONE

    @property
    def is_open(self) -> bool:
        """Whether a page that shows it should look again."""
        return self.status in DiffStatus.open()

    @property
    def changed_share(self) -> float | None:
        """None where nothing was recorded."""
        return self.changed / self.requests if self.requests else None
