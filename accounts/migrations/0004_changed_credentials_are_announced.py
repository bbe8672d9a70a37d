"""Whoever believes a credential for a while hears at once when it is no longer as it was.

A trigger, so that no way of changing a row forgets it. The notification carries the row's number.
"""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION announce_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('orchid_credential', OLD.id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER credential_changed
    AFTER UPDATE OF token_hash, revoked_at, expires_at, owner_id, product_slug, kind
    ON accounts_credential FOR EACH ROW EXECUTE FUNCTION announce_credential();
CREATE TRIGGER credential_gone AFTER DELETE ON accounts_credential
    FOR EACH ROW EXECUTE FUNCTION announce_credential();
CREATE FUNCTION announce_credentials_of() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('orchid_credential', id::text)
    FROM accounts_credential WHERE owner_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER owner_changed AFTER UPDATE OF is_active ON accounts_user
    FOR EACH ROW WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active)
    EXECUTE FUNCTION announce_credentials_of();
"""

BACKWARDS = """
DROP TRIGGER owner_changed ON accounts_user;
DROP FUNCTION announce_credentials_of();
DROP TRIGGER credential_gone ON accounts_credential;
DROP TRIGGER credential_changed ON accounts_credential;
DROP FUNCTION announce_credential();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_failed_sign_in")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
