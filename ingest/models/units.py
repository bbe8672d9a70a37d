"""Which units of a split were answered by which cohort, while a publication is a canary."""

from django.db import models
from django.utils import timezone

from policies.models import Product

#: Hashes of units are whole numbers below this.
EVERY_UNIT = 2**63 - 1


class FollowedSplit(models.Model):
    """A publication whose units are followed, and how a unit and its stratum are named.

    A unit is followed while its hash is below `keep`, which is lowered when there are too many:
    what is left is a sample that owes nothing to the cohorts.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    publication = models.IntegerField()
    unit = models.CharField(max_length=16)
    strata = models.JSONField(default=list)
    keep = models.BigIntegerField(default=EVERY_UNIT)
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "publication"], name="split_followed_once"),
        ]
        indexes = [
            # What every batch of the product is looked at for.
            models.Index(
                fields=["product"],
                condition=models.Q(closed_at__isnull=True),
                name="split_followed",
            ),
        ]


class ExposedUnit(models.Model):
    """One unit of a stratum by its hash; `cohorts` has a bit for each that answered it."""

    pk = models.CompositePrimaryKey("split_id", "unit")
    split_id = models.BigIntegerField()
    unit = models.BigIntegerField()
    stratum = models.TextField()
    cohorts = models.SmallIntegerField()
