"""The gates of a judgement as rows, all of them by one COPY."""

from collections.abc import Sequence
from dataclasses import fields

from django.db import connection
from psycopg import sql

from orchid.engine.verdict.result import Result

#: A row has a column for each field of a result.
_COLUMNS = tuple(field.name for field in fields(Result))
_COPY = sql.SQL("COPY gates_verdict (evaluation_id, {}) FROM STDIN").format(
    sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
)


def store_verdicts(evaluation_id: int, results: Sequence[Result]) -> None:
    """Add the rows of one evaluation."""
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for result in results:
            copy.write_row((evaluation_id, *(getattr(result, name) for name in _COLUMNS)))
