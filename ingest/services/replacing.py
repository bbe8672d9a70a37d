"""Attempts that were derived anew, over what the spans known before had made."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from ingest.models import EngineAttempt

_FIELDS = [field for field in EngineAttempt._meta.concrete_fields if not field.primary_key]
_NAMES = [str(field.column) for field in _FIELDS]
_FACTS = [name for name in _NAMES if name not in ("source_id", "key", "received_at")]
_ROWS_AT_ONCE = 500
_INSERT = f"INSERT INTO ingest_engineattempt AS known ({', '.join(_NAMES)}) VALUES "  # noqa: S608
_ONE = f"({', '.join(['%s'] * len(_NAMES))})"
_ELSE = f"""
ON CONFLICT (source_id, key) DO UPDATE
SET {", ".join(f"{name} = excluded.{name}" for name in _FACTS)}
WHERE ({", ".join(f"known.{name}" for name in _FACTS)})
    IS DISTINCT FROM ({", ".join(f"excluded.{name}" for name in _FACTS)})
"""


def replace(attempts: Sequence[EngineAttempt]) -> None:
    """Store attempts; one that is known takes on these facts and keeps when it was first seen."""
    with connection.cursor() as cursor:
        for start in range(0, len(attempts), _ROWS_AT_ONCE):
            part = attempts[start : start + _ROWS_AT_ONCE]
            values = [value for one in part for value in _values(one)]
            cursor.execute(_INSERT + ", ".join([_ONE] * len(part)) + _ELSE, values)


def _values(attempt: EngineAttempt) -> list[Any]:
    return [
        field.get_db_prep_save(getattr(attempt, field.attname), connection) for field in _FIELDS
    ]
