"""Two deliveries that both find a day without its partition: both are stored."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from threading import Event
from time import monotonic, sleep

import pytest
from django.db import connection, connections, transaction

from ingest.services import span_rows
from ingest.services.partitions import EDGE_ROLLUPS, STEPS, ensure_days, ensure_rollup_days

pytestmark = pytest.mark.django_db(transaction=True)

DAY = date(2031, 5, 17)
MAKERS: dict[str, Callable[[], None]] = {
    "ingest_request": lambda: ensure_days([DAY]),
    "ingest_span": lambda: span_rows.ensure_days({DAY}),
    STEPS: lambda: ensure_rollup_days(STEPS, [DAY]),
    EDGE_ROLLUPS: lambda: ensure_rollup_days(EDGE_ROLLUPS, [DAY]),
}


@pytest.mark.parametrize("table", MAKERS)
def test_a_day_that_two_make_at_once_is_there_for_both(table: str) -> None:
    made, go_on = Event(), Event()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_held, MAKERS[table], made, go_on)
        assert made.wait(60)
        second = pool.submit(_alone, MAKERS[table])
        try:
            _until_somebody_waits()
        finally:
            go_on.set()
        _both(first, second)
    try:
        assert _partitions(f"{table}_{DAY:%Y%m%d}") == 1
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {table}_{DAY:%Y%m%d}")


def _held(make: Callable[[], None], made: Event, go_on: Event) -> None:
    """Make the day and keep the transaction open until the other one waits for it."""
    try:
        with transaction.atomic():
            make()
            made.set()
            go_on.wait(60)
    finally:
        connections.close_all()


def _alone(make: Callable[[], None]) -> None:
    try:
        make()
    finally:
        connections.close_all()


def _both(*done: Future[None]) -> None:
    for one in done:
        one.result(60)


def _until_somebody_waits() -> None:
    """The database tells no event of a wait, so it is asked until there is one."""
    deadline = monotonic() + 60
    while not _somebody_waits():
        assert monotonic() < deadline, "nobody waits"
        sleep(0.01)


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return bool(cursor.fetchone()[0])


def _partitions(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_class WHERE relname = %s", [name])
        return int(cursor.fetchone()[0])
