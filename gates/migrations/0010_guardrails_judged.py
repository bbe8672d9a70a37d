"""Guardrails are judged beside the gates, and their names are longer."""

from django.db import migrations, models

METRICS = [
    ("completion_p95_ms", "Completion p95"),
    ("first_token_p95_ms", "First token p95"),
    ("time_per_output_token_p95_ms", "Time per output token p95"),
    ("inter_token_gap_p95_ms", "Longest token gap p95"),
    ("cost_per_success_usd", "Cost per success"),
    ("utility", "Utility index"),
    ("attainment", "Attainment"),
    ("violations", "Violations"),
]


class Migration(migrations.Migration):
    dependencies = [("gates", "0009_changes_of_verdict")]
    operations = [
        migrations.AlterField(
            "verdict", "metric", models.CharField(choices=METRICS, max_length=100)
        ),
        migrations.AlterField("verdict", "segment", models.CharField(blank=True, max_length=400)),
    ]
