"""Evidence never changes, whoever asks; a judgement is never rewritten by the application."""

from django.db import migrations

FORWARDS = """
CREATE TRIGGER evidence_stays BEFORE UPDATE OR DELETE ON gates_evidence
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON gates_evidence FROM orchid_app;
REVOKE UPDATE ON gates_evaluation, gates_verdict FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER evidence_stays ON gates_evidence;
GRANT UPDATE, DELETE ON gates_evidence TO orchid_app;
GRANT UPDATE ON gates_evaluation, gates_verdict TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [("gates", "0001_initial"), ("accounts", "0002_append_only")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
