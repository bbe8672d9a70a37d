from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ingest import tasks
from ingest.models import Batch, RequestRow, RollupDelta
from tests.ingest.ingest_cast import RecordMaker, Sender

pytestmark = pytest.mark.django_db


def test_a_stored_batch_is_sent_to_a_worker_once_it_is_committed(
    edge: Sender,
    record: RecordMaker,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(tasks.process_batch, "delay", tasks.process_batch)
    with django_capture_on_commit_callbacks() as callbacks:
        edge.records(record())
    assert not RequestRow.objects.exists()
    for callback in callbacks:
        callback()
    assert RequestRow.objects.count() == 1


def test_the_sweep_sends_a_forgotten_batch(
    edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.process_batch, "delay", tasks.process_batch)
    edge.records(record())
    tasks.sweep()
    assert not RequestRow.objects.exists()
    Batch.objects.update(received_at=timezone.now() - timedelta(seconds=10))
    tasks.sweep()
    assert RequestRow.objects.count() == 1


def test_the_compactor_merges_what_is_over(edge: Sender, record: RecordMaker) -> None:
    for one in (record(), record()):
        edge.records(one)
    for pk in Batch.objects.values_list("pk", flat=True):
        tasks.process_batch(pk)
    assert RollupDelta.objects.count() == 2
    tasks.compact()
    assert RollupDelta.objects.get().records == 2
