"""What was counted, summed by step and key."""

from django.db import models


class RollupDelta(models.Model):
    """What one batch added to one rollup. Appended only; readers sum, one compactor merges."""

    product_id = models.BigIntegerField()
    step_at = models.DateTimeField()
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()
    dims_key = models.TextField()
    dims = models.JSONField()
    route = models.TextField()
    manifest = models.TextField()
    counters = models.JSONField()
    histogram = models.JSONField()
    within = models.JSONField()
    teu = models.DecimalField(max_digits=24, decimal_places=6)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12)
    records = models.PositiveIntegerField()

    class Meta:
        indexes = [
            # A gate's window: one generation under one publication, over time.
            models.Index(
                fields=["product_id", "digest", "publication", "step_at"], name="rollup_window"
            ),
        ]
