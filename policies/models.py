"""Products, their generations, and rows derived from each document. A revision never changes."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Product(models.Model):
    """A promise of answers under one contract at a time."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class Generation(models.Model):
    """A numbered policy of a product; the number is taken at the draft and never given again."""

    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="generations")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    created_by = models.CharField(max_length=160)
    created_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    # Who answers for the machine that drafted it.
    owner_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["product", "number"], name="generation_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.product.slug} generation {self.number}"


class Revision(models.Model):
    """One text of a generation. Immutable, by trigger; everything else names it by its digest."""

    generation = models.ForeignKey(Generation, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=80)
    document = models.JSONField()
    base = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    created_by = models.CharField(max_length=160)
    created_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    owner_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["generation", "number"], name="revision_number_once")
        ]
        # A publication, an approval and a verdict find their document by digest.
        indexes: ClassVar = [models.Index(fields=["digest"], name="revision_by_digest")]

    def __str__(self) -> str:
        return f"{self.generation} revision {self.number}"


class Projection(models.Model):
    """Rows derived from a document so that pages, filters and joins can use SQL; never edited."""

    class Meta:
        abstract = True


class Floor(Projection):
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="floors")
    where = models.JSONField()
    key = models.CharField(max_length=400)
    min_utility = models.FloatField()


class FallbackRule(Projection):
    """In the document's order, which decides between equally specific rules."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="fallback_rules")
    index = models.PositiveSmallIntegerField()
    source = models.CharField(max_length=80, blank=True)
    target = models.CharField(max_length=80, blank=True)
    deny = models.BooleanField()
    prefer = models.BooleanField()
    where = models.JSONField()


class GateBound(Projection):
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="gate_bounds")
    metric = models.CharField(max_length=40)
    bound = models.DecimalField(max_digits=20, decimal_places=10)
    window_ms = models.BigIntegerField(null=True)
    minimum_sample = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["revision", "metric"], name="one_bound_a_metric")
        ]


class GatedSegment(Projection):
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="gated_segments")
    name = models.CharField(max_length=80)
    where = models.JSONField()
    key = models.CharField(max_length=400)
    minimum_sample = models.BigIntegerField(null=True)


class Stage(Projection):
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="stages")
    index = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=20)
    fraction = models.FloatField(null=True)
    hold_ms = models.BigIntegerField(null=True)


class Manifest(Projection):
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="manifests")
    model = models.CharField(max_length=80)
    digest = models.CharField(max_length=80)
    content = models.JSONField()

    class Meta:
        # Which revisions serve this very model?
        indexes: ClassVar = [models.Index(fields=["digest"], name="manifest_by_digest")]
