"""Overrides of inconclusive stages, and what people write into a decision record.

An override changes once, when a second person confirms it; a revision of a record never does.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FORWARDS = """
CREATE TRIGGER override_stays BEFORE UPDATE ON releases_override FOR EACH ROW
    WHEN (OLD.state = 'confirmed' OR
        to_jsonb(OLD) - ARRAY['state', 'version', 'confirmed_by_id', 'at'] IS DISTINCT FROM
        to_jsonb(NEW) - ARRAY['state', 'version', 'confirmed_by_id', 'at'])
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER override_is_kept BEFORE DELETE ON releases_override
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER record_revision_stays BEFORE UPDATE OR DELETE ON releases_recordrevision
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE DELETE, TRUNCATE ON releases_override FROM orchid_app;
REVOKE UPDATE, DELETE, TRUNCATE ON releases_recordrevision FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER record_revision_stays ON releases_recordrevision;
DROP TRIGGER override_is_kept ON releases_override;
DROP TRIGGER override_stays ON releases_override;
GRANT UPDATE, DELETE ON releases_recordrevision TO orchid_app;
GRANT DELETE ON releases_override TO orchid_app;
"""

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def to(model: str, name: str = "+", *, null: bool = False) -> models.ForeignKey:
    return models.ForeignKey(
        to=model, on_delete=django.db.models.deletion.PROTECT, related_name=name, null=null
    )


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0012_accepted_figures"),
        ("policies", "0002_immutable"),
        ("releases", "0004_pools_and_drills"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Override",
            fields=[
                ("id", ID),
                ("stage_index", models.PositiveIntegerField()),
                ("publication", models.PositiveIntegerField()),
                ("asked_at", models.DateTimeField()),
                ("reason", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("asked", "Waits for a second person"),
                            ("confirmed", "Confirmed by a second person"),
                        ],
                        default="asked",
                        max_length=9,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("at", models.DateTimeField(null=True)),
                ("asked_by", to(settings.AUTH_USER_MODEL)),
                ("confirmed_by", to(settings.AUTH_USER_MODEL, null=True)),
                ("evaluation", to("gates.evaluation")),
                ("product", to("policies.product", "overrides")),
                ("rollout", to("releases.rollout", "overrides")),
            ],
            options={
                "ordering": ["-asked_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["product", "-asked_at", "-id"], name="releases_override_newest"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        name="releases_override_state",
                        condition=models.Q(state__in=["asked", "confirmed"]),
                    ),
                    models.CheckConstraint(
                        name="releases_override_reason", condition=~models.Q(reason="")
                    ),
                    models.CheckConstraint(
                        name="releases_override_two_people",
                        condition=~models.Q(confirmed_by=models.F("asked_by")),
                    ),
                    models.CheckConstraint(
                        name="releases_override_confirmed_by_somebody",
                        condition=models.Q(
                            state="asked", confirmed_by__isnull=True, at__isnull=True
                        )
                        | models.Q(state="confirmed", confirmed_by__isnull=False, at__isnull=False),
                    ),
                    models.UniqueConstraint(
                        name="releases_one_override_a_judgement",
                        fields=["rollout", "evaluation"],
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecordRevision",
            fields=[
                ("id", ID),
                ("number", models.PositiveIntegerField()),
                ("texts", models.JSONField()),
                ("generated_digest", models.CharField(max_length=71)),
                ("written_by", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                ("final", models.BooleanField(default=False)),
                ("proposal", to("releases.proposal", "record_revisions")),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(
                        name="releases_record_revision_number", fields=["proposal", "number"]
                    ),
                    models.UniqueConstraint(
                        name="releases_record_is_fixed_once",
                        fields=["proposal"],
                        condition=models.Q(final=True),
                    ),
                ],
            },
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
