"""Items that reopen a decision, and declared cases; what an item opened with never changes."""

import django.db.models.deletion
from django.db import migrations, models

FORWARDS = """
REVOKE UPDATE, DELETE, TRUNCATE ON gates_revisititem FROM orchid_app;
GRANT UPDATE (
    state, version, seen_at, recovered_at, acknowledged_by, resolved_by, resolved_at, reason
) ON gates_revisititem TO orchid_app;
"""
BACKWARDS = "GRANT UPDATE, DELETE ON gates_revisititem TO orchid_app;"


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0007_cases_and_marks"),
        ("policies", "0002_immutable"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeclaredCase",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("text", models.TextField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="declared_cases",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("product", "name"), name="declared_case_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RevisitItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=80)),
                ("publication", models.PositiveIntegerField()),
                ("trigger", models.CharField(max_length=80)),
                ("subject", models.CharField(blank=True, default="", max_length=400)),
                (
                    "owner",
                    models.CharField(
                        choices=[
                            ("product_owner", "Product owner"),
                            ("engineer", "Platform engineer"),
                            ("sre", "SRE"),
                            ("auditor", "Auditor"),
                            ("ci", "CI"),
                            ("edge", "Edge"),
                            ("otel", "OpenTelemetry sender"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("acknowledged", "Acknowledged"),
                            ("resolved", "Resolved"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("opened_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("recovered_at", models.DateTimeField(null=True)),
                ("acknowledged_by", models.CharField(blank=True, default="", max_length=160)),
                ("resolved_by", models.CharField(blank=True, default="", max_length=160)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True, default="")),
                ("evidence", models.JSONField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisit_items",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["product", "-opened_at", "-id"], name="revisit_newest"),
                    models.Index(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=["product", "owner"],
                        name="revisit_waiting",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("recovered_at__isnull", True)),
                        fields=("product", "digest", "trigger", "subject"),
                        name="one_item_a_breach",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("resolved_at__isnull", True),
                                ("state__in", ["open", "acknowledged"]),
                            ),
                            models.Q(("resolved_at__isnull", False), ("state", "resolved")),
                            _connector="OR",
                        ),
                        name="revisit_resolved_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("seen_at__gte", models.F("opened_at"))),
                        name="revisit_seen_after_it_opened",
                    ),
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
