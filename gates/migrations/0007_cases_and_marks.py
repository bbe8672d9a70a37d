"""Cases by digest, the watch of each window, and the marks of whoever asks for a judgement."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# Windows of before are live but for the candidate of the last publication: its rollout may still
# be open, and for a stage nothing is lost by growing on from the opening.
LIVE = """
UPDATE gates_window SET live_from = opens_at
WHERE cohort <> 'candidate' OR closes_at IS NOT NULL;
INSERT INTO gates_watch (
    window_id, evaluation_id, judged_to, state, before, after, starts, running_violations, answered
)
SELECT id, (
    SELECT evaluation.id FROM gates_evaluation evaluation
    WHERE evaluation.window_id = gates_window.id
    ORDER BY evaluated_at DESC, id DESC LIMIT 1
), judged_to, judged_state, '{}', '{}', '{}', 0, 0
FROM gates_window;
"""


class Migration(migrations.Migration):
    dependencies = [("gates", "0006_evidence_in_sets")]

    operations = [
        migrations.AddField("window", "hold_until", models.DateTimeField(null=True)),
        migrations.AddField("window", "live_from", models.DateTimeField(null=True)),
        migrations.AddField(
            "evaluation", "outcome_digest", models.CharField(blank=True, default="", max_length=80)
        ),
        migrations.AddField(
            "evaluation",
            "action",
            models.CharField(
                choices=[
                    ("hold", "Hold"),
                    ("advance", "Advance"),
                    ("pause", "Pause"),
                    ("roll_back", "Roll back"),
                ],
                default="hold",
                max_length=16,
            ),
        ),
        migrations.AddField("evaluation", "why", models.TextField(blank=True, default="")),
        migrations.AddField("verdict", "needs_s", models.FloatField(null=True)),
        migrations.CreateModel(
            name="CaseBody",
            fields=[
                ("digest", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("body", models.BinaryField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("kept_until", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("kept_until__isnull", False)),
                        fields=["kept_until"],
                        name="case_kept_until",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Mark",
            fields=[
                (
                    "window",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="mark",
                        serialize=False,
                        to="gates.window",
                    ),
                ),
                ("asked", models.PositiveBigIntegerField(default=0)),
                ("queued", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Watch",
            fields=[
                (
                    "window",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="watch",
                        serialize=False,
                        to="gates.window",
                    ),
                ),
                (
                    "evaluation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="watch",
                        to="gates.evaluation",
                    ),
                ),
                ("looked_at", models.DateTimeField(null=True)),
                ("judged_to", models.DateTimeField(null=True)),
                ("state", models.CharField(blank=True, default="", max_length=16)),
                ("since", models.DateTimeField(null=True)),
                ("watched_to", models.DateTimeField(null=True)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("starts", models.JSONField(default=dict)),
                ("running_violations", models.PositiveBigIntegerField(default=0)),
                ("answered", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.RunSQL(LIVE, migrations.RunSQL.noop),
        migrations.RemoveField("window", "judged_to"),
        migrations.RemoveField("window", "judged_state"),
    ]
