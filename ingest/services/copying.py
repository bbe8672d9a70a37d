"""COPY into a table with a unique identity, storing only what is new."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import transaction
from psycopg import errors, sql

from ingest.services.binary import HEADER, TRAILER

Rows = Iterable[bytes]
Identity = tuple[Any, ...]


def copy_new(
    cursor: Any,
    table: str,
    columns: Sequence[str],
    identity: Sequence[str],
    rows: Callable[[], Rows],
) -> set[Identity] | None:
    """Store the rows that were not there yet: their identities, or None when all are new.

    `rows` begins anew each time it is called; it gives rows in the binary form, many at a time, no
    two of one identity. They go straight into the table as they are made, since nearly every batch
    is new: the server stores some while the next are read. Only when a row is there already does
    the batch go through a stage, which costs about twice as much.
    """
    try:
        with transaction.atomic():
            _copy(cursor, sql.Identifier(table), columns, rows())
    except errors.UniqueViolation:
        return _through_a_stage(cursor, table, columns, identity, rows())
    return None


def _copy(cursor: Any, table: sql.Composable, columns: Sequence[str], rows: Rows) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(table, _names(columns))
    # A socket holds less than a block, so a block is sent by a thread while the next is made. The
    # two never use the connection at the same time: making rows asks the database nothing.
    with cursor.copy(statement) as copy, ThreadPoolExecutor(1, "copy") as beside:
        sent = beside.submit(copy.write, HEADER)
        for some in rows:
            sent.result()
            sent = beside.submit(copy.write, some)
        sent.result()
        copy.write(TRAILER)


def _through_a_stage(
    cursor: Any, table: str, columns: Sequence[str], identity: Sequence[str], rows: Rows
) -> set[Identity]:
    stage = sql.Identifier(f"{table}_stage")
    target = sql.Identifier(table)
    cursor.execute(
        sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} LIMIT 0").format(
            stage, _names(columns), target
        )
    )
    _copy(cursor, stage, columns, rows)
    cursor.execute(
        sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} ON CONFLICT DO NOTHING RETURNING {}").format(
            target, _names(columns), _names(columns), stage, _names(identity)
        )
    )
    new: set[Identity] = set(cursor.fetchall())
    cursor.execute(sql.SQL("DROP TABLE {}").format(stage))
    return new


def _names(columns: Sequence[str]) -> sql.Composable:
    return sql.SQL(", ").join(map(sql.Identifier, columns))
