"""Where a verdict changed is found without reading what lies between, and lists by time are read."""

from typing import ClassVar

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies: ClassVar = [("gates", "0008_revisit_items")]

    operations: ClassVar = [
        migrations.AddField("evaluation", "changed", models.BooleanField(default=False)),
        migrations.AddIndex(
            "evaluation",
            models.Index(
                condition=Q(changed=True),
                fields=["window", "-evaluated_at", "-id"],
                name="evaluation_changed",
            ),
        ),
        migrations.AddIndex(
            "evaluation",
            models.Index(fields=["-evaluated_at", "-id"], name="evaluation_by_time"),
        ),
    ]
