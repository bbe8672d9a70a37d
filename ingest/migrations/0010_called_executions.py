from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0009_trials"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="engineattempt",
            index=models.Index(
                condition=models.Q(("parent_key", ""), _negated=True),
                fields=["source", "parent_key"],
                name="engine_attempt_by_caller",
            ),
        ),
    ]
