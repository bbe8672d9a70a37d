"""Inputs that come back after others are a judgement in their turn, so that no history omits it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("gates", "0010_guardrails_judged")]
    operations = [
        migrations.AddField(
            "evaluation", "again", models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.RemoveConstraint("evaluation", "evaluation_once"),
        migrations.AddConstraint(
            "evaluation",
            models.UniqueConstraint(
                fields=["window", "inputs_digest", "again"], name="evaluation_once"
            ),
        ),
    ]
