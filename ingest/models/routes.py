"""Which route of the product an engine's model stands for, where no gateway says so."""

from django.db import models
from django.utils import timezone

from ingest.models.sources import Source
from policies.models import Product


class EngineRoute(models.Model):
    """A model that engines tell of, under the name that the product's documents call it by.

    One source's own mapping goes before that of every source (null).
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="+", null=True, blank=True)
    model = models.CharField(max_length=256)
    route = models.CharField(max_length=80)
    # Grows with each change: what a page was drawn from, so that a stale one changes nothing.
    version = models.PositiveIntegerField(default=1)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["product", "source", "model"],
                nulls_distinct=False,
                name="engine_route_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} as {self.route}"
