"""Units of a canary's split, and clocks of edges that are off."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_initial"), ("ingest", "0013_bodies_as_they_came")]
    operations = [
        migrations.AddField("source", "clock_skew_ms", models.FloatField(blank=True, null=True)),
        migrations.AddField("source", "clock_off_at", models.DateTimeField(blank=True, null=True)),
        migrations.CreateModel(
            "FollowedSplit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="policies.product",
                    ),
                ),
                ("publication", models.IntegerField()),
                ("unit", models.CharField(max_length=16)),
                ("strata", models.JSONField(default=list)),
                ("keep", models.BigIntegerField(default=9223372036854775807)),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("product", "publication"), name="split_followed_once"
                    )
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=["product"],
                        name="split_followed",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            "ExposedUnit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "split_id",
                        "unit",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("split_id", models.BigIntegerField()),
                ("unit", models.BigIntegerField()),
                ("stratum", models.TextField()),
                ("cohorts", models.SmallIntegerField()),
            ],
        ),
    ]
