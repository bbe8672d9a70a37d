import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

# Executions of files that came before kept their number in their key alone.
NUMBERS = """
UPDATE ingest_engineattempt
SET engine_id = split_part(key, ':', 1)::bigint,
    parent_engine_id = nullif(split_part(parent_key, ':', 1), '')::bigint
WHERE clock = 'steady' AND length(split_part(key, ':', 1)) <= 18
  AND length(split_part(parent_key, ':', 1)) <= 18;
"""


class Migration(migrations.Migration):
    dependencies = [("ingest", "0005_servers_and_series")]

    operations = [
        migrations.AddField(
            model_name="engineattempt",
            name="engine_id",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="engineattempt",
            name="parent_engine_id",
            field=models.BigIntegerField(null=True),
        ),
        migrations.RunSQL(NUMBERS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="engineattempt",
            index=models.Index(
                fields=["source", "engine_id"],
                condition=models.Q(("engine_id__isnull", False)),
                name="engine_attempt_by_number",
            ),
        ),
        migrations.AddIndex(
            model_name="engineattempt",
            index=models.Index(
                fields=["source", "parent_engine_id"],
                condition=models.Q(("parent_engine_id__isnull", False)),
                name="engine_attempt_by_parent",
            ),
        ),
        migrations.CreateModel(
            name="EngineHeader",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("engine_id", models.BigIntegerField()),
                ("model", models.CharField(max_length=256)),
                ("version", models.IntegerField(null=True)),
                ("attempt_id", models.CharField(blank=True, default="", max_length=256)),
                ("parent_engine_id", models.BigIntegerField(null=True)),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ingest.source",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="engineheader",
            constraint=models.UniqueConstraint(
                fields=("source", "engine_id"), name="engine_header_once"
            ),
        ),
        migrations.CreateModel(
            name="EngineModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=256)),
                ("calls_others", models.BooleanField(default=False)),
                ("computes", models.BooleanField(default=False)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ingest.source",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="enginemodel",
            constraint=models.UniqueConstraint(
                fields=("source", "model"), name="engine_model_once"
            ),
        ),
    ]
