"""Evidence comes in sets that are kept, with its load state, edition, age and single scores."""

from typing import ClassVar

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import MD5, Concat, Now

FORWARDS = """
CREATE TRIGGER evidence_push_stays BEFORE UPDATE OR DELETE ON gates_evidencepush
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON gates_evidencepush FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER evidence_push_stays ON gates_evidencepush;
GRANT UPDATE, DELETE ON gates_evidencepush TO orchid_app;
"""


def cell_hash() -> MD5:
    """As it was written when the column was made."""
    names = ("manifest", "route", "kind", "suite", "key", "load_state")
    return MD5(Concat(*(part for name in names for part in (name, models.Value("\n")))))


class Migration(migrations.Migration):
    dependencies: ClassVar = [("gates", "0005_calibration"), ("policies", "0001_initial")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="EvidencePush",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=80)),
                ("items", models.PositiveIntegerField()),
                ("new", models.PositiveIntegerField()),
                ("pushed_by", models.CharField(max_length=160)),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence_pushes",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "evidence pushes",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(new__gte=1, new__lte=models.F("items")),
                        name="push_brings_something",
                    )
                ],
            },
        ),
        migrations.AddField(
            "evidence",
            "push",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="cells",
                to="gates.evidencepush",
            ),
        ),
        migrations.AddField(
            "evidence",
            "scores",
            django.contrib.postgres.fields.ArrayField(models.FloatField(), null=True, size=None),
        ),
        migrations.AddField(
            "evidence", "load_state", models.CharField(blank=True, default="", max_length=120)
        ),
        migrations.AddField(
            "evidence", "index_version", models.CharField(blank=True, default="", max_length=120)
        ),
        migrations.AddField(
            "evidence", "prompt_version", models.CharField(blank=True, default="", max_length=120)
        ),
        migrations.AddField("evidence", "measured_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "evidence",
            "cell",
            models.GeneratedField(
                expression=cell_hash(),
                output_field=models.CharField(max_length=32),
                db_persist=True,
            ),
        ),
        migrations.AddIndex(
            "evidence",
            models.Index(fields=["product", "manifest", "cell", "-id"], name="evidence_of_cell"),
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
