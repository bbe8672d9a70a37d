"""A window knows which segments are split by a fraction of their own."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("gates", "0012_accepted_figures")]
    operations = [
        migrations.AddField("window", "by_segment", models.JSONField(default=list)),
        migrations.RemoveConstraint("window", "window_exposes_something"),
        migrations.AddConstraint(
            "window",
            models.CheckConstraint(
                condition=Q(exposure__gt=0, exposure__lte=1)
                | Q(exposure__gte=0, exposure__lte=1) & ~Q(by_segment=[]),
                name="window_exposes_something",
            ),
        ),
    ]
