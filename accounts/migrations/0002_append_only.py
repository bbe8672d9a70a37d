"""What was done stays as it was written: by grant for the application, by trigger for everyone."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: its rows never change', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_event_stays BEFORE UPDATE OR DELETE ON accounts_auditevent
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_seal_stays BEFORE UPDATE OR DELETE ON accounts_auditseal
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON accounts_auditevent, accounts_auditseal FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER audit_seal_stays ON accounts_auditseal;
DROP TRIGGER audit_event_stays ON accounts_auditevent;
DROP FUNCTION refuse_change();
GRANT UPDATE, DELETE ON accounts_auditevent, accounts_auditseal TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
