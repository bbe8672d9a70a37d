"""Predictions beside what came of them, summed by cell as records arrive."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from policies.models import Product


class CalibrationCursor(models.Model):
    """How far a product's request batches have been read. Its row is the lock of the reading."""

    product = models.OneToOneField(Product, models.PROTECT, primary_key=True, related_name="+")
    # Every batch up to this one is read or will never be; `ahead` are those read beyond it.
    through = models.BigIntegerField(default=0)
    ahead = ArrayField(models.BigIntegerField(), default=list)
    read = models.PositiveBigIntegerField(default=0)
    # Stored in the same batches, read or left out by the sample.
    stored = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.product_id} through {self.through}"


class Shape(models.Model):
    """What every sum of calibration is about: one shape, under one demand model."""

    demand_version = models.CharField(max_length=120)
    route = models.CharField(max_length=80)
    input_bucket = models.CharField(max_length=40)
    output_bucket = models.CharField(max_length=40)

    class Meta:
        abstract = True


class CalibrationCell(Shape):
    """One measure of one shape on one version of model, runtime and hardware, in one day."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="calibration_cells")
    version = models.CharField(max_length=200, blank=True)
    measure = models.CharField(max_length=16)
    day = models.DateField()
    n = models.PositiveBigIntegerField()
    # Ratios at or under 1, exactly; `promised` sums the chances with which that was promised.
    within = models.PositiveBigIntegerField()
    promised = models.FloatField()
    predicted = models.FloatField()
    observed = models.FloatField()
    # Buckets of `orchid.engine.calibration.ratios`, by their number as text.
    ratios = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "product",
                    "demand_version",
                    "day",
                    "measure",
                    "route",
                    "input_bucket",
                    "output_bucket",
                    "version",
                ],
                name="calibration_cell_once",
            ),
            models.CheckConstraint(
                condition=Q(n__gte=1, within__lte=F("n")), name="calibration_cell_counts"
            ),
        ]


class CalibrationWatch(Shape):
    """What the watch over a cell's error remembers, and when it found that it moved."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="calibration_watches")
    version = models.CharField(max_length=200, blank=True)
    measure = models.CharField(max_length=16)
    state = models.JSONField()
    blocks = models.PositiveBigIntegerField(default=0)
    evidence = models.FloatField(default=0)
    shift = models.FloatField(null=True)
    alarm_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "product",
                    "demand_version",
                    "measure",
                    "route",
                    "input_bucket",
                    "output_bucket",
                    "version",
                ],
                name="calibration_watch_once",
            ),
        ]


class CompletionBin(models.Model):
    """Forecasts of being in time that fell in one bin, and how many were, in one day."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="completion_bins")
    demand_version = models.CharField(max_length=120)
    route = models.CharField(max_length=80)
    kind = models.CharField(max_length=16)
    bin = models.PositiveSmallIntegerField()
    day = models.DateField()
    n = models.PositiveBigIntegerField()
    hits = models.PositiveBigIntegerField()
    predicted = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["product", "demand_version", "day", "kind", "route", "bin"],
                name="completion_bin_once",
            ),
            models.CheckConstraint(condition=Q(hits__lte=F("n")), name="completion_bin_counts"),
        ]


class PricedOut(Shape):
    """Requests of one tenant that were refused for their price, by shape and day."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="priced_out")
    day = models.DateField()
    tenant = models.CharField(max_length=200)
    n = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "product",
                    "demand_version",
                    "day",
                    "route",
                    "input_bucket",
                    "output_bucket",
                    "tenant",
                ],
                name="priced_out_once",
            ),
        ]
