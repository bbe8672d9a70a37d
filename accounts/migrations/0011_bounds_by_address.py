"""What comes from one address is bounded too: wrong answers, and mails for a new password."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_invitations_may_be_withdrawn")]

    operations = [
        migrations.AddIndex(
            model_name="failedsignin",
            index=models.Index(fields=["address", "at"], name="failures_from_an_address"),
        ),
        migrations.CreateModel(
            name="ResetAsked",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.CharField(max_length=254)),
                ("address", models.CharField(blank=True, max_length=64)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["email", "at"], name="resets_of_an_email"),
                    models.Index(fields=["address", "at"], name="resets_from_an_address"),
                ],
            },
        ),
    ]
