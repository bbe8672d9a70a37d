"""What was published stays as it was; only its signature may be renewed, nothing is deleted."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION refuse_other_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (to_jsonb(OLD) - ARRAY['token', 'etag', 'kid', 'issued_at', 'expires_at'])
        IS DISTINCT FROM (to_jsonb(NEW) - ARRAY['token', 'etag', 'kid', 'issued_at', 'expires_at'])
    THEN
        RAISE EXCEPTION 'publication % never changes what it serves', OLD.number
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER publication_stays BEFORE UPDATE ON releases_publication
    FOR EACH ROW EXECUTE FUNCTION refuse_other_content();
CREATE TRIGGER publication_is_kept BEFORE DELETE ON releases_publication
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE DELETE, TRUNCATE ON releases_publication, releases_vote FROM orchid_app;
"""

BACKWARDS = """
GRANT DELETE ON releases_publication, releases_vote TO orchid_app;
DROP TRIGGER publication_is_kept ON releases_publication;
DROP TRIGGER publication_stays ON releases_publication;
DROP FUNCTION refuse_other_content();
"""


class Migration(migrations.Migration):
    dependencies = [("releases", "0001_initial"), ("accounts", "0002_append_only")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
