"""The decision record of a proposal: what people wrote into it, revision by revision."""

from typing import ClassVar

from django.db import models

from releases.models.proposals import Proposal


class RecordRevision(models.Model):
    """The texts of a decision record as somebody left them. Never changes; the next one follows.

    `texts` has the sections that a person wrote; the others are generated until the revision that
    is final, which publication writes with all of them.
    """

    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="record_revisions")
    number = models.PositiveIntegerField()
    texts = models.JSONField()
    # Digest of what was generated when it was written: whether the facts have moved since.
    generated_digest = models.CharField(max_length=71)
    written_by = models.CharField(max_length=150)
    at = models.DateTimeField()
    final = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_record_revision_number", fields=["proposal", "number"]
            ),
            models.UniqueConstraint(
                name="releases_record_is_fixed_once",
                fields=["proposal"],
                condition=models.Q(final=True),
            ),
        ]

    def __str__(self) -> str:
        return f"record of proposal {self.proposal_id}, revision {self.number}"
