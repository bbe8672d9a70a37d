from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("gates", "0002_immutable")]

    operations = [
        migrations.AlterField(
            model_name="verdict",
            name="metric",
            field=models.CharField(
                choices=[
                    ("completion_p95_ms", "Completion p95"),
                    ("first_token_p95_ms", "First token p95"),
                    ("time_per_output_token_p95_ms", "Time per output token p95"),
                    ("inter_token_gap_p95_ms", "Longest token gap p95"),
                    ("cost_per_success_usd", "Cost per success"),
                    ("utility", "Utility index"),
                    ("attainment", "Attainment"),
                    ("violations", "Violations"),
                ],
                max_length=32,
            ),
        ),
    ]
