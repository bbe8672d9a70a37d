"""What was counted, summed by step and key.

A key is parted into a stream (publication, digest, cohort) and a cell of it (dimensions, route,
manifest, or a tenant). All cells of one stream and step lie in one sheet of bytes (see
`orchid.engine.rollup_bytes`), so that a row's own weight is paid once a step and not once a cell.
"""

from django.db import models
from django.utils import timezone

from ingest.states import CountedBy, RollupBy
from policies.models import Product


class RollupStream(models.Model):
    """What a window asks for: one generation under one publication, by cell or by tenant."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    by = models.CharField(max_length=8, choices=RollupBy)
    publication = models.IntegerField(null=True)
    digest = models.TextField()
    cohort = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["product", "digest", "publication", "cohort", "by"],
                name="rollup_stream_once",
                nulls_distinct=False,
            ),
        ]


class RollupCell(models.Model):
    """One combination of dimensions, route and manifest, or one tenant; its id names it in sheets.

    Cells are few, because their parts are capped, and stay for as long as any sheet names them.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    by = models.CharField(max_length=8, choices=RollupBy)
    dims_key = models.TextField(default="")
    route = models.TextField(default="")
    manifest = models.TextField(default="")
    tenant = models.TextField(default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["product", "by", "dims_key", "route", "manifest", "tenant"],
                name="rollup_cell_once",
            ),
        ]


class DimensionValue(models.Model):
    """A value that a dimension of a product keeps under its own name; beyond a cap it is `other`.

    The route, the manifest and the tenant of a request are capped like dimensions. A tenant's place
    may go to one with more traffic; of what came before `kept_since` some may lie in `other`.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    dimension = models.CharField(max_length=40)
    value = models.CharField(max_length=128)
    kept_since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["product", "dimension", "value"], name="dimension_value_once"
            ),
        ]


class TenantNote(models.Model):
    """How many requests of one counted batch each tenant had, until the ranking has them."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    batch_id = models.BigIntegerField(unique=True)
    # Requests by tenant.
    requests = models.JSONField()


class TenantRanking(models.Model):
    """The tenants of a product with the most traffic of late (`orchid.engine.most_frequent`)."""

    product = models.OneToOneField(Product, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    # By tenant: requests at most, and how many of them may be others'; faded to the moment `at`.
    held = models.JSONField(default=dict)


class RollupDelta(models.Model):
    """What one batch added to one step. Appended only; readers sum, one compactor merges."""

    stream = models.ForeignKey(RollupStream, models.PROTECT, related_name="+")
    step_at = models.DateTimeField()
    # Plain, because receipts of counted batches are forgotten before the steps are.
    batch_id = models.BigIntegerField()
    sheet = models.BinaryField()

    class Meta:
        constraints = [
            # A batch adds to a step once. Also a gate's window, and what is merged together.
            models.UniqueConstraint(
                fields=["stream", "step_at", "batch_id"], name="rollup_delta_once"
            ),
        ]


class RollupStep(models.Model):
    """A step whose deltas were merged. Partitioned by day, which is part of its key."""

    pk = models.CompositePrimaryKey("day", "stream_id", "step_at")
    day = models.DateField()
    stream_id = models.BigIntegerField()
    step_at = models.DateTimeField()
    sheet = models.BinaryField()

    class Meta:
        managed = False
        db_table = "ingest_rollup_step"


class RollupHour(models.Model):
    """An hour of steps, kept for longer than they are.

    The sheet has each cell up to six times, once for each ten minutes (see
    `orchid.engine.rollup_hour`), so that neighbours in time can still be told from chance.
    """

    stream = models.ForeignKey(RollupStream, models.PROTECT, related_name="+")
    hour_at = models.DateTimeField()
    sheet = models.BinaryField()
    # Its steps are dropped, so that readers take the hour.
    stands_alone = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "hour_at"], name="rollup_hour_once"),
        ]


class EdgeStep(models.Model):
    """By what one edge's requests of one step are counted, so that none is counted twice.

    The first delivery decides: its records or its rollups.
    """

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    edge = models.CharField(max_length=128)
    step_at = models.DateTimeField()
    counted_by = models.CharField(max_length=8, choices=CountedBy)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "edge", "step_at"], name="edge_step_once"),
        ]


class EdgeRollup(models.Model):
    """That one rollup of an edge was counted, and a hash of what it said. Partitioned by day."""

    pk = models.CompositePrimaryKey("day", "source_id", "stream_id", "step_at", "key_hash")
    day = models.DateField()
    source_id = models.BigIntegerField()
    stream_id = models.BigIntegerField()
    step_at = models.DateTimeField()
    # Of the key as it was sent: two keys may be counted under one cell.
    key_hash = models.BigIntegerField()
    content = models.BigIntegerField()

    class Meta:
        managed = False
        db_table = "ingest_edge_rollup"
