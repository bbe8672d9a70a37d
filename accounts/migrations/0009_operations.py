"""A machine that looks and rolls back, and does nothing else."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_audit_readers")]
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
                    ("ops", "Operations"),
                ],
                max_length=8,
            ),
        ),
    ]
