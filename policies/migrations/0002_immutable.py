"""A revision's row never changes, whoever asks; everything else names it by digest."""

from django.db import migrations

FORWARDS = """
CREATE TRIGGER revision_stays BEFORE UPDATE OR DELETE ON policies_revision
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON policies_revision FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER revision_stays ON policies_revision;
GRANT UPDATE, DELETE ON policies_revision TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_initial"), ("accounts", "0002_append_only")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
