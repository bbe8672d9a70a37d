"""What a generation that left service still holds, and rehearsals of the way back to it."""

import django.db.models.deletion
from django.db import migrations, models

# What was let go and what was rehearsed stays as it was told.
FORWARDS = """
CREATE TRIGGER pool_release_stays BEFORE UPDATE OR DELETE ON releases_poolrelease
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER drill_stays BEFORE UPDATE OR DELETE ON releases_drill
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON releases_poolrelease, releases_drill FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER pool_release_stays ON releases_poolrelease;
DROP TRIGGER drill_stays ON releases_drill;
GRANT UPDATE, DELETE ON releases_poolrelease, releases_drill TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_append_only"),
        ("policies", "0002_immutable"),
        ("releases", "0003_second_looks_and_schedules"),
    ]

    operations = [
        migrations.AddField(
            model_name="edgeseen",
            name="open_manifests",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.CreateModel(
            name="Drill",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=71)),
                ("pool", models.CharField(max_length=100)),
                ("token", models.TextField()),
                ("prepared_ms", models.FloatField()),
                ("started_at", models.DateTimeField()),
                ("deadline_at", models.DateTimeField()),
                ("asked", models.JSONField(default=list)),
                ("silent", models.JSONField(default=list)),
                ("actor", models.CharField(max_length=150)),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drills",
                        to="policies.product",
                    ),
                ),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="releases.publication",
                    ),
                ),
            ],
            options={
                "ordering": ["-started_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["product", "-started_at", "-id"], name="releases_drill_newest"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DrillAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("ready", "Could activate it"), ("refused", "Would refuse it")],
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField()),
                ("fetch_ms", models.FloatField(null=True)),
                ("prepare_ms", models.FloatField(null=True)),
                ("replicas", models.PositiveIntegerField(null=True)),
                (
                    "drill",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="releases.drill",
                    ),
                ),
                (
                    "edge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="releases.edge",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("drill", "edge"), name="releases_one_drill_answer"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ready", "refused"])),
                        name="releases_drill_answer_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PoolRelease",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=71)),
                ("pool", models.CharField(max_length=100)),
                ("publication", models.PositiveIntegerField()),
                ("released_at", models.DateTimeField()),
                ("actor", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pool_releases",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "ordering": ["-released_at", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="releases_release_reason",
                    ),
                    models.UniqueConstraint(
                        fields=("product", "digest", "publication"), name="releases_one_release"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reconciliation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=71)),
                ("began_at", models.DateTimeField()),
                ("settled_at", models.DateTimeField(null=True)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="policies.product",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("product", "digest"), name="releases_one_reconciliation"
                    )
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
