"""Requests lie in a table partitioned by day; see migrations 0002 and 0011."""

import json
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from orchid.engine.outcome import names_of


class RequestRow(models.Model):
    """One logical request with its attempts. Partitioned by day of arrival, part of its key.

    What the database looks into has a column. Objects of the record are kept as it was sent.
    """

    pk = models.CompositePrimaryKey("day", "id")
    day = models.DateField()
    # The batch's id and the row's place in it.
    id = models.BigIntegerField()
    product_id = models.BigIntegerField()
    request_id = models.TextField()
    arrived_at = models.DateTimeField()
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()
    tenant = models.TextField()
    tenant_class = models.TextField()
    class_name = models.TextField()
    # As it was sent, and as it is counted: values past a bound are `other` there.
    segment = models.TextField()
    dims_key = models.TextField()
    action = models.TextField()
    route = models.TextField()
    reason = models.TextField()
    manifest = models.TextField()
    outcome = models.TextField()
    policy_valid = models.BooleanField(null=True)
    schema_valid = models.BooleanField(null=True)
    deadline_ms = models.FloatField(null=True)
    admission_ms = models.FloatField(null=True)
    first_token_ms = models.FloatField(null=True)
    max_gap_ms = models.FloatField(null=True)
    completion_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    cached_input_tokens = models.IntegerField(null=True)
    max_output_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)
    teu = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=12)
    # Bits of `orchid.engine.outcome.BIT_OF`.
    population_bits = models.BigIntegerField(db_column="populations")
    attempt_ids = ArrayField(models.TextField())
    decision_text = models.TextField(db_column="decision")
    attempts_text = models.TextField(db_column="attempts")

    class Meta:
        managed = False
        db_table = "ingest_request"

    @property
    def dims(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.segment)
        return found

    @property
    def populations(self) -> frozenset[str]:
        """The names of `orchid.engine.outcome.COUNTERS` that count it."""
        return names_of(self.population_bits)

    @property
    def decision(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = json.loads(self.decision_text)
        return found

    @property
    def attempts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.attempts_text)
        return found
