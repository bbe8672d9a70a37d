"""A machine's token may be cut down to some of what its kind may do."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_a_credential_may_be_superseded")]

    operations = [
        migrations.AddField(
            model_name="credential",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=24),
                blank=True,
                db_default=models.Value([]),
                default=list,
                size=None,
            ),
        ),
    ]
