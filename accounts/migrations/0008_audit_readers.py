"""A machine that reads the audit trail and does nothing else."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_tokens_with_scopes")]
    operations = [
        migrations.AlterField(
            model_name="credential",
            name="kind",
            field=models.CharField(
                choices=[
                    ("ci", "CI"),
                    ("edge", "Edge"),
                    ("otel", "OpenTelemetry sender"),
                    ("audit", "Audit reader"),
                ],
                max_length=8,
            ),
        ),
    ]
