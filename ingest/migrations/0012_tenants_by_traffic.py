"""The tenants with the most traffic keep their names; receipts of trials may be forgotten."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def _id():
    return models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )


def _receipt():
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name="+",
        to="ingest.batch",
    )


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_initial"), ("ingest", "0011_rows_quick_to_write")]
    operations = [
        migrations.RenameField("DimensionValue", "first_seen_at", "kept_since"),
        migrations.AlterField(
            "DimensionValue",
            "kept_since",
            models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.CreateModel(
            "TenantNote",
            fields=[
                ("id", _id()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="policies.product",
                    ),
                ),
                ("batch_id", models.BigIntegerField(unique=True)),
                ("requests", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            "TenantRanking",
            fields=[
                ("id", _id()),
                (
                    "product",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="policies.product",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("held", models.JSONField(default=dict)),
            ],
        ),
        migrations.AlterField("Trial", "batch", _receipt()),
        migrations.AlterField("ArrivalTrace", "batch", _receipt()),
    ]
