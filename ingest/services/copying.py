"""COPY into a table with a unique identity, storing only what is new."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from psycopg import errors, sql

Row = tuple[Any, ...]
Identity = tuple[Any, ...]


def copy_new(
    cursor: Any, table: str, columns: Sequence[str], identity: Sequence[str], rows: Sequence[Row]
) -> list[Identity]:
    """The identities of the rows that were not there yet; no two rows may share one.

    Straight into the table first, since nearly every batch is new. Only when a row is there
    already does the batch go through a stage, which costs about twice as much.
    """
    if not rows:
        return []
    try:
        with transaction.atomic():
            _copy(cursor, sql.Identifier(table), columns, rows)
    except errors.UniqueViolation:
        return _through_a_stage(cursor, table, columns, identity, rows)
    places = [columns.index(name) for name in identity]
    return [tuple(row[place] for place in places) for row in rows]


def _copy(cursor: Any, table: sql.Composable, columns: Sequence[str], rows: Sequence[Row]) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(table, _names(columns))
    with cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _through_a_stage(
    cursor: Any, table: str, columns: Sequence[str], identity: Sequence[str], rows: Sequence[Row]
) -> list[Identity]:
    stage = sql.Identifier(f"{table}_stage")
    target = sql.Identifier(table)
    cursor.execute(
        sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} LIMIT 0").format(
            stage, _names(columns), target
        )
    )
    _copy(cursor, stage, columns, rows)
    cursor.execute(
        sql.SQL(
            "INSERT INTO {} ({}) SELECT {} FROM {} ON CONFLICT ({}) DO NOTHING RETURNING {}"
        ).format(
            target, _names(columns), _names(columns), stage, _names(identity), _names(identity)
        )
    )
    new: list[Identity] = cursor.fetchall()
    cursor.execute(sql.SQL("DROP TABLE {}").format(stage))
    return new


def _names(columns: Sequence[str]) -> sql.Composable:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
