"""Bodies in the inbox are stored as they are: most are compressed by their sender already."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ingest", "0012_tenants_by_traffic")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE ingest_batch ALTER COLUMN body SET STORAGE EXTERNAL",
            "ALTER TABLE ingest_batch ALTER COLUMN body SET STORAGE EXTENDED",
        )
    ]
