"""People and their systems are told of alarms as well."""

from django.db import migrations, models

KINDS = ["waits", "breach", "rollback", "alarm"]


class Migration(migrations.Migration):
    dependencies = [("releases", "0011_what_votes_were_on")]
    operations = [
        migrations.RemoveConstraint(model_name="notice", name="releases_notice_kind"),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("waits", "Waits for you"),
                    ("breach", "Breach"),
                    ("rollback", "Rollback"),
                    ("alarm", "Alarm of edges"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                name="releases_notice_kind", condition=models.Q(kind__in=KINDS)
            ),
        ),
    ]
