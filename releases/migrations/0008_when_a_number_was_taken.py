"""When a number was taken, which a new signature must not move."""

from django.db import migrations, models

# The rows never change for anybody else; their first signature is when their number was taken.
FILL = """
ALTER TABLE releases_publication DISABLE TRIGGER publication_stays;
UPDATE releases_publication SET published_at = issued_at;
ALTER TABLE releases_publication ENABLE TRIGGER publication_stays;
CREATE TRIGGER publication_is_not_emptied BEFORE TRUNCATE ON releases_publication
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
UNFILL = "DROP TRIGGER publication_is_not_emptied ON releases_publication;"


class Migration(migrations.Migration):
    dependencies = [("releases", "0007_stages_of_segments")]
    operations = [
        migrations.AddField("publication", "published_at", models.DateTimeField(null=True)),
        migrations.RunSQL(FILL, UNFILL),
        migrations.AlterField("publication", "published_at", models.DateTimeField()),
    ]
