import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0004_decision_diff"),
        ("policies", "0002_immutable"),
    ]

    operations = [
        migrations.CreateModel(
            name="CalibrationCursor",
            fields=[
                (
                    "product",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="policies.product",
                    ),
                ),
                ("through", models.BigIntegerField(default=0)),
                (
                    "ahead",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("read", models.PositiveBigIntegerField(default=0)),
                ("stored", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name="declaredpoint",
            name="condition",
            field=models.CharField(blank=True, default="", max_length=120),
        ),
        migrations.AddField(
            model_name="declaredpoint",
            name="is_own_choice",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="declaredpoint",
            name="is_selected",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="declaredpoint",
            name="observed",
            field=models.JSONField(default=dict),
        ),
        migrations.CreateModel(
            name="CalibrationCell",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("demand_version", models.CharField(max_length=120)),
                ("route", models.CharField(max_length=80)),
                ("input_bucket", models.CharField(max_length=40)),
                ("output_bucket", models.CharField(max_length=40)),
                ("version", models.CharField(blank=True, max_length=200)),
                ("measure", models.CharField(max_length=16)),
                ("day", models.DateField()),
                ("n", models.PositiveBigIntegerField()),
                ("within", models.PositiveBigIntegerField()),
                ("promised", models.FloatField()),
                ("predicted", models.FloatField()),
                ("observed", models.FloatField()),
                ("ratios", models.JSONField(default=dict)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calibration_cells",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "product",
                            "demand_version",
                            "day",
                            "measure",
                            "route",
                            "input_bucket",
                            "output_bucket",
                            "version",
                        ),
                        name="calibration_cell_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("n__gte", 1), ("within__lte", models.F("n"))),
                        name="calibration_cell_counts",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CalibrationWatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("demand_version", models.CharField(max_length=120)),
                ("route", models.CharField(max_length=80)),
                ("input_bucket", models.CharField(max_length=40)),
                ("output_bucket", models.CharField(max_length=40)),
                ("version", models.CharField(blank=True, max_length=200)),
                ("measure", models.CharField(max_length=16)),
                ("state", models.JSONField()),
                ("blocks", models.PositiveBigIntegerField(default=0)),
                ("evidence", models.FloatField(default=0)),
                ("shift", models.FloatField(null=True)),
                ("alarm_at", models.DateTimeField(null=True)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calibration_watches",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "product",
                            "demand_version",
                            "measure",
                            "route",
                            "input_bucket",
                            "output_bucket",
                            "version",
                        ),
                        name="calibration_watch_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CompletionBin",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("demand_version", models.CharField(max_length=120)),
                ("route", models.CharField(max_length=80)),
                ("kind", models.CharField(max_length=16)),
                ("bin", models.PositiveSmallIntegerField()),
                ("day", models.DateField()),
                ("n", models.PositiveBigIntegerField()),
                ("hits", models.PositiveBigIntegerField()),
                ("predicted", models.FloatField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="completion_bins",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("product", "demand_version", "day", "kind", "route", "bin"),
                        name="completion_bin_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("hits__lte", models.F("n"))),
                        name="completion_bin_counts",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PricedOut",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("demand_version", models.CharField(max_length=120)),
                ("route", models.CharField(max_length=80)),
                ("input_bucket", models.CharField(max_length=40)),
                ("output_bucket", models.CharField(max_length=40)),
                ("day", models.DateField()),
                ("tenant", models.CharField(max_length=200)),
                ("n", models.PositiveBigIntegerField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="priced_out",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "product",
                            "demand_version",
                            "day",
                            "route",
                            "input_bucket",
                            "output_bucket",
                            "tenant",
                        ),
                        name="priced_out_once",
                    )
                ],
            },
        ),
    ]
