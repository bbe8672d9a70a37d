"""First answers, given again to equal posts."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now


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
