"""A yes to a stage is for the segments that lacked nothing else."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("gates", "0014_owners_of_revisits"),
        ("releases", "0012_alarms_are_told"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="stageapproval",
            name="releases_one_approval_a_person",
        ),
        migrations.AddField(
            model_name="stageapproval",
            name="segments",
            field=models.JSONField(default=list),
        ),
        migrations.AddConstraint(
            model_name="stageapproval",
            constraint=models.UniqueConstraint(
                fields=("rollout", "publication", "user", "segments"),
                name="releases_one_approval_a_person",
            ),
        ),
    ]
