import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0008_rollups_as_sheets"),
        ("policies", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="declared",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("format", models.CharField(max_length=32)),
                ("tool", models.CharField(max_length=64)),
                ("title", models.CharField(max_length=128)),
                ("model", models.CharField(blank=True, default="", max_length=128)),
                (
                    "loop",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Not told"),
                            ("open", "Open loop (a rate)"),
                            ("closed", "Closed loop (a concurrency)"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("simulated", models.BooleanField(default=False)),
                ("whole", models.BooleanField(default=True)),
                ("points", models.JSONField(default=list)),
                ("told", models.JSONField(default=dict)),
                ("declared", models.JSONField(default=dict)),
                ("notes", models.JSONField(default=list)),
                ("unused", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ingest.batch",
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
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="trials",
                        to="ingest.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["product", "-created_at", "-id"], name="trial_newest")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("product", "sha256"), name="trial_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ArrivalTrace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("format", models.CharField(max_length=32)),
                ("title", models.CharField(max_length=128)),
                (
                    "holds",
                    models.CharField(
                        choices=[
                            ("arrivals", "Arrivals"),
                            ("lengths", "Lengths without arrivals"),
                            ("rates", "Rates by window"),
                            ("distributions", "Lengths by window"),
                        ],
                        max_length=16,
                    ),
                ),
                ("rows", models.PositiveIntegerField()),
                ("statistics", models.JSONField(default=dict)),
                ("rates", models.JSONField(default=dict)),
                ("units", models.JSONField(default=list)),
                ("warm_up_requests", models.PositiveIntegerField(default=0)),
                ("warm_up_s", models.FloatField(default=0)),
                ("notes", models.JSONField(default=list)),
                ("unused", models.PositiveIntegerField(default=0)),
                ("content", models.BinaryField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ingest.batch",
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
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="arrival_traces",
                        to="ingest.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["product", "-created_at", "-id"], name="arrival_trace_newest"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("product", "sha256"), name="arrival_trace_once")
                ],
            },
        ),
    ]
