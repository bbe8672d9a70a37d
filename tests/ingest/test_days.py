from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection

from ingest.models import Batch, RequestRow
from ingest.services.partitions import RETENTION, ensure_days, keep_days
from ingest.services.receipts import forget_receipts
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


def _days() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
            "WHERE inhparent = 'ingest_request'::regclass"
        )
        return {row[0].removeprefix("ingest_request_") for row in cursor.fetchall()}


def _named(day: date) -> str:
    return f"{day:%Y%m%d}"


def test_days_to_come_are_made_and_days_past_retention_are_dropped() -> None:
    now = datetime.now(UTC)
    today = now.date()
    over, kept = today - RETENTION - timedelta(days=1), today - RETENTION
    ensure_days([over, kept])
    keep_days(now)
    assert _days() >= {_named(kept), *(_named(today + timedelta(days=n)) for n in range(3))}
    assert _named(over) not in _days()


def test_keeping_days_twice_changes_nothing() -> None:
    now = datetime.now(UTC)
    keep_days(now)
    before = _days()
    keep_days(now)
    assert _days() == before


def test_no_clock_can_drop_the_last_week(edge: Sender, record: RecordMaker) -> None:
    edge.records(record())
    count_waiting()
    keep_days(datetime.now(UTC) + timedelta(days=365))
    assert RequestRow.objects.count() == 1


def test_receipts_of_edges_are_forgotten_after_two_days_and_rows_stay(
    edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    count_waiting()
    forget_receipts(datetime.now(UTC) + timedelta(days=1))
    assert Batch.objects.count() == 1
    forget_receipts(datetime.now(UTC) + timedelta(days=3))
    assert (Batch.objects.count(), RequestRow.objects.count()) == (0, 1)
