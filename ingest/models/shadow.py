"""What a candidate would have decided beside what was: each decision, and how many there were."""

import json
from typing import Any

from django.db import models

from ingest.models.sources import Source
from ingest.states import ShadowCounted, ShadowMode


class ShadowRow(models.Model):
    """One request decided twice. Partitioned by day of the decision, part of its key.

    What a list asks for has a column; both sides are kept as they were sent.
    """

    pk = models.CompositePrimaryKey("day", "id")
    day = models.DateField()
    # The batch's id and the row's place in it.
    id = models.BigIntegerField()
    product_id = models.BigIntegerField()
    publication = models.IntegerField()
    request_id = models.TextField()
    attempt = models.SmallIntegerField()
    mode = models.TextField()
    at = models.DateTimeField()
    edge = models.TextField()
    class_name = models.TextField()
    tenant = models.TextField()
    # As it was sent, and as it is counted: values past a bound are `other` there.
    segment = models.TextField()
    dims_key = models.TextField()
    difference = models.TextField()
    near_deadline = models.BooleanField()
    near_long_context = models.BooleanField()
    near_budget = models.BooleanField()
    # Of the candidate; empty where it serves nothing.
    route = models.TextField()
    deadline_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    max_output_tokens = models.IntegerField(null=True)
    incumbent_text = models.TextField(db_column="incumbent")
    candidate_text = models.TextField(db_column="candidate")

    class Meta:
        managed = False
        db_table = "ingest_shadow"

    @property
    def dims(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.segment)
        return found

    @property
    def incumbent(self) -> dict[str, Any]:
        """Its `orchid.engine.wire.shadow.Side`."""
        found: dict[str, Any] = json.loads(self.incumbent_text)
        return found

    @property
    def candidate(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.candidate_text)
        return found


class ShadowCount(models.Model):
    """How many decisions of one publication an edge's lines came to, in one row a kind.

    `near` has a bit for each of `orchid.engine.shadow.differences.NEAR`. The transaction that
    stores a line counts it, so that a second delivery changes nothing.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="shadow_counts")
    publication = models.IntegerField()
    mode = models.CharField(max_length=16, choices=ShadowMode)
    counted = models.CharField(max_length=16, choices=ShadowCounted)
    near = models.PositiveSmallIntegerField(default=0)
    n = models.PositiveBigIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            # Also finds all of a publication for a source.
            models.UniqueConstraint(
                fields=["source", "publication", "mode", "counted", "near"],
                name="shadow_counted_once",
            ),
        ]
