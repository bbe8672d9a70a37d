"""Two credentials of one name, while the older of them is replaced."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_signed_heads"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="credential",
            name="one_live_credential_by_name",
        ),
        migrations.AddField(
            model_name="credential",
            name="superseded_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="credential",
            constraint=models.UniqueConstraint(
                condition=models.Q(("revoked_at__isnull", True), ("superseded_at__isnull", True)),
                fields=("product_slug", "kind", "name"),
                name="one_live_credential_by_name",
            ),
        ),
    ]
