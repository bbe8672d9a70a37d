"""Signed heads of the audit trail, and no way to empty any of its tables."""

from django.db import migrations, models

FORWARDS = """
CREATE TRIGGER audit_head_stays BEFORE UPDATE OR DELETE ON accounts_audithead
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_event_is_not_emptied BEFORE TRUNCATE ON accounts_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_seal_is_not_emptied BEFORE TRUNCATE ON accounts_auditseal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_head_is_not_emptied BEFORE TRUNCATE ON accounts_audithead
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON accounts_audithead FROM orchid_app;
CREATE INDEX audit_data ON accounts_auditevent USING gin (data jsonb_path_ops);
"""

BACKWARDS = """
DROP INDEX audit_data;
DROP TRIGGER audit_seal_is_not_emptied ON accounts_auditseal;
DROP TRIGGER audit_event_is_not_emptied ON accounts_auditevent;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_changed_credentials_are_announced")]
    operations = [
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("hash", models.CharField(max_length=64)),
                ("kid", models.CharField(max_length=64)),
                ("token", models.TextField()),
                ("signed_at", models.DateTimeField()),
            ],
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["digest_after"], name="audit_after"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["digest_before"], name="audit_before"),
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
