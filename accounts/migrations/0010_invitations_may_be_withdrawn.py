"""An open invitation can be taken back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_operations")]
    operations = [
        migrations.AddField(
            model_name="invitation",
            name="withdrawn_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
