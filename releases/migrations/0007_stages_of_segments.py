"""Segments go through stages of their own, and people approve of stages."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FORWARDS = """
CREATE TRIGGER stage_approval_stays BEFORE UPDATE OR DELETE ON releases_stageapproval
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON releases_stageapproval FROM orchid_app;
"""
BACKWARDS = """
DROP TRIGGER stage_approval_stays ON releases_stageapproval;
GRANT UPDATE, DELETE ON releases_stageapproval TO orchid_app;
"""


def to(model, name):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name=name, to=model
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("gates", "0013_segments_apart"),
        ("releases", "0006_alarms_and_two_credentials"),
    ]
    operations = [
        migrations.AddField("rollout", "vector", models.JSONField(default=list)),
        migrations.AddField("publication", "by_segment", models.JSONField(default=list)),
        migrations.CreateModel(
            name="StageApproval",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stage_index", models.PositiveIntegerField()),
                ("role", models.CharField(max_length=20)),
                ("reason", models.TextField()),
                ("at", models.DateTimeField()),
                ("rollout", to("releases.rollout", "approvals")),
                ("publication", to("releases.publication", "+")),
                ("user", to(settings.AUTH_USER_MODEL, "+")),
                (
                    "evaluation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="gates.evaluation",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        name="releases_one_approval_a_person",
                        fields=["rollout", "publication", "user"],
                    ),
                    models.CheckConstraint(
                        name="releases_stage_approval_reason", condition=~models.Q(reason="")
                    ),
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
