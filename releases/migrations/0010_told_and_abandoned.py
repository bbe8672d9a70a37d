"""When an edge last told its sequences, and what a retired one left open."""

from django.db import migrations, models

# What is stored of each answer tells when the last one came.
FILL = """
UPDATE releases_edgeseen s SET reported_at = said.at
FROM (SELECT edge_id, max(reported_at) AS at FROM releases_activation GROUP BY edge_id) said
WHERE said.edge_id = s.edge_id;
"""


class Migration(migrations.Migration):
    dependencies = [("releases", "0009_notices")]
    operations = [
        migrations.AddField("edgeseen", "reported_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "edge",
            "abandoned",
            models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
