"""Points that a product declares."""

from typing import ClassVar

from django.db import models

from policies.models import Product


class DeclaredPoint(models.Model):
    """An outcome that a product states beside its measurements. Data, never recomputed."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="declared_points")
    name = models.CharField(max_length=120)
    utility = models.FloatField(null=True)
    p95_ms = models.FloatField(null=True)
    success_per_s = models.DecimalField(max_digits=12, decimal_places=3, null=True)
    attainment = models.FloatField(null=True)
    cost_per_success_usd = models.DecimalField(max_digits=20, decimal_places=12, null=True)
    ledger_usd_per_h = models.DecimalField(max_digits=16, decimal_places=4, null=True)
    # The condition that a trial of the selected policy ran under; empty for a policy of its own.
    condition = models.CharField(max_length=120, blank=True, default="")
    is_selected = models.BooleanField(default=False)
    # Made up by whoever declares it, to show a shape that is known; else told of a trial.
    is_own_choice = models.BooleanField(default=False)
    observed = models.JSONField(default=dict)
    outcome = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["product", "name"], name="declared_point_once"),
        ]

    def __str__(self) -> str:
        return self.name
