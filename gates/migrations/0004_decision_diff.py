"""Decision diffs over recorded requests; one that is done never changes, whoever asks."""

import django.db.models.deletion
from django.db import migrations, models

FORWARDS = """
CREATE TRIGGER decision_diff_stays BEFORE UPDATE OR DELETE ON gates_decisiondiff
    FOR EACH ROW WHEN (OLD.status = 'done') EXECUTE FUNCTION refuse_change();
REVOKE DELETE, TRUNCATE ON gates_decisiondiff FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER decision_diff_stays ON gates_decisiondiff;
GRANT DELETE ON gates_decisiondiff TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0003_latency_between_tokens"),
        ("policies", "0002_immutable"),
        ("accounts", "0002_append_only"),
    ]

    operations = [
        migrations.CreateModel(
            name="DecisionDiff",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("base_digest", models.CharField(max_length=80)),
                ("digest", models.CharField(max_length=80)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Waits for a worker"),
                            ("running", "Being compared"),
                            ("done", "Compared"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                ("asked_by", models.CharField(max_length=160)),
                ("asked_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("done_at", models.DateTimeField(null=True)),
                ("records_from", models.DateTimeField(null=True)),
                ("records_to", models.DateTimeField(null=True)),
                ("is_whole", models.BooleanField(default=True)),
                ("requests", models.PositiveBigIntegerField(default=0)),
                ("changed", models.PositiveBigIntegerField(default=0)),
                ("content", models.JSONField(default=dict)),
                ("inputs_digest", models.CharField(blank=True, default="", max_length=80)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decision_diffs",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["product", "base_digest", "digest", "-id"], name="diff_of_pair"
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ["queued", "running"])),
                        fields=["id"],
                        name="diff_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["queued", "running"])),
                        fields=("product", "base_digest", "digest"),
                        name="one_open_diff_a_pair",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("changed__lte", models.F("requests"))),
                        name="diff_changes_what_it_compared",
                    ),
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
