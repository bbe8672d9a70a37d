"""Tables that Django reads and does not manage, so that its flush leaves them full."""

from django.apps import apps
from django.db import connection


def empty_unmanaged() -> None:
    """Leave nothing for the next test where no transaction is rolled back."""
    tables = [model._meta.db_table for model in apps.get_models() if not model._meta.managed]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)}")
