"""A stage of a rollout carries the figures that its approvers accepted, as bounds of its own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("gates", "0011_judgements_that_hold_again")]
    operations = [
        migrations.AddField("window", "accepted", models.JSONField(default=dict)),
    ]
