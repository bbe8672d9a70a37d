"""Alarms about edges, a second credential while the first is replaced, what was downloaded."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_changed_credentials_are_announced"),
        ("policies", "0002_immutable"),
        ("releases", "0005_overrides_and_records"),
    ]

    operations = [
        migrations.AddField(
            model_name="edge",
            name="former_credential",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.credential",
            ),
        ),
        migrations.AddField(
            model_name="edgeseen",
            name="downloaded_publication",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("split_brain", "Two generations stay live"),
                            ("silent", "Edges are silent"),
                            ("refusing", "Edges refuse"),
                        ],
                        max_length=16,
                    ),
                ),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("text", models.TextField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="alarms",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "ordering": ["-since"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)),
                        fields=("product", "kind"),
                        name="releases_one_open_alarm",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["split_brain", "silent", "refusing"])),
                        name="releases_alarm_kind",
                    ),
                ],
            },
        ),
    ]
