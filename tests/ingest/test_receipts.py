"""How long a delivery's id is recognised, and what becomes of one that nobody could count."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from ingest import tasks
from ingest.models import Batch, ClientCall, RequestRow, Trial
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


def aged(**age: int) -> datetime:
    """Every delivery came in, and was counted if it was, so long ago."""
    then = timezone.now() - timedelta(**age)
    Batch.objects.update(received_at=then)
    Batch.objects.filter(done_at__isnull=False).update(done_at=then)
    return then


@pytest.mark.parametrize(("days", "kept"), [(1, 1), (3, 0)])
def test_a_receipt_of_an_edge_lasts_two_days_and_its_records_stay(
    edge: Sender, record: RecordMaker, days: int, kept: int
) -> None:
    edge.records(record())
    count_waiting()
    aged(days=days)
    tasks.forget_receipts()
    assert (Batch.objects.count(), RequestRow.objects.count()) == (kept, 1)


def test_what_comes_again_after_its_receipt_is_gone_is_counted_once(
    edge: Sender, record: RecordMaker
) -> None:
    one = record()
    edge.records(one, **{"Batch-Id": "b"})
    count_waiting()
    aged(days=3)
    tasks.forget_receipts()
    assert edge.records(one, **{"Batch-Id": "b"}).status_code == 202
    count_waiting()
    assert Batch.objects.get().counts["duplicates"] == 1
    assert RequestRow.objects.count() == 1


def test_what_waits_is_never_forgotten(edge: Sender, record: RecordMaker) -> None:
    edge.records(record())
    aged(days=300)
    tasks.forget_receipts()
    assert Batch.objects.get().body is not None


@pytest.mark.parametrize(("days", "kept"), [(29, 1), (31, 0)])
def test_a_delivery_set_aside_is_kept_while_a_try_could_store_something(
    edge: Sender, record: RecordMaker, days: int, kept: int
) -> None:
    edge.records(record())
    Batch.objects.update(status="set_aside")
    aged(days=days)
    tasks.forget_receipts()
    assert Batch.objects.count() == kept


def test_a_logs_calls_go_with_retention_and_its_receipt_after_them(
    ci: Sender, recordings: Path
) -> None:
    ci.file(recordings / "run1/client-log.jsonl", "kind=client_log")
    count_waiting()
    assert ClientCall.objects.exists()
    aged(days=31)
    ClientCall.objects.update(sent_at=timezone.now())
    tasks.forget_receipts()
    assert Batch.objects.count() == 1
    ClientCall.objects.update(sent_at=timezone.now() - timedelta(days=31))
    tasks.forget_receipts()
    assert (Batch.objects.count(), ClientCall.objects.count()) == (0, 0)


def test_a_trial_outlives_its_receipt_and_is_known_again_by_its_content(
    ci: Sender, data: Path
) -> None:
    file = data / "trials/perf/perf_analyzer_inception_graphdef.csv"
    ci.file(file, "kind=trial&source=lab")
    count_waiting()
    aged(days=29)
    tasks.forget_receipts()
    assert Batch.objects.count() == 1
    aged(days=31)
    tasks.forget_receipts()
    assert not Batch.objects.exists()
    assert Trial.objects.get().batch is None
    ci.file(file, "kind=trial&source=lab")
    count_waiting()
    assert (Trial.objects.count(), Batch.objects.get().counts["duplicates"]) == (1, 1)
