"""Wrong passwords of late, which bound the next guesses."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_append_only")]

    operations = [
        migrations.CreateModel(
            name="FailedSignIn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150)),
                ("address", models.CharField(blank=True, max_length=64)),
                (
                    "at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["name", "at"], name="failures_of_a_name")],
            },
        ),
    ]
