"""Requests lie in a table partitioned by day; see migration 0002."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class RequestRow(models.Model):
    """One logical request with its attempts. Partitioned by day of arrival, part of its key."""

    pk = models.CompositePrimaryKey("day", "id")
    day = models.DateField()
    id = models.BigIntegerField()
    product_id = models.BigIntegerField()
    request_id = models.TextField()
    batch_id = models.BigIntegerField()
    arrived_at = models.DateTimeField()
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()
    tenant = models.TextField()
    tenant_class = models.TextField()
    class_name = models.TextField()
    dims = models.JSONField()
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
    completion_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    max_output_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)
    teu = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12)
    populations = ArrayField(models.TextField())
    attempt_ids = ArrayField(models.TextField())
    # The record's own objects, for the decision diff and the attempts page.
    decision = models.JSONField(null=True)
    attempts = models.JSONField()

    class Meta:
        managed = False
        db_table = "ingest_request"
