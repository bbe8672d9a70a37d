"""What somebody with the password of the tables' owner could do to the audit trail."""

from django.db import connection

TABLES = ("accounts_auditevent", "accounts_auditseal", "accounts_audithead")


def tamper(statement: str, value: int | str) -> None:
    """Run one statement that the triggers would have refused."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, [value])
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        # As the tests' database had it, or the next test can't be cleaned up after.
        for table, kind in zip(TABLES, ("event", "seal", "head"), strict=True):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER audit_{kind}_is_not_emptied")
