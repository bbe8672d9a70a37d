from typing import Any

import pytest

from ingest import tasks
from ingest.models import RequestRow, RollupDelta, RollupStep
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' queue does what it is told while it is told."""
    monkeypatch.setattr(tasks.drain, "apply_async", lambda *_, **__: tasks.drain())


def test_a_stored_batch_is_told_to_a_worker_once_it_is_committed(
    edge: Sender,
    record: RecordMaker,
    at_once: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        edge.records(record())
    assert not RequestRow.objects.exists()
    for callback in callbacks:
        callback()
    assert RequestRow.objects.count() == 1


def test_the_sweep_sends_a_forgotten_batch(
    edge: Sender, record: RecordMaker, at_once: None
) -> None:
    edge.records(record())
    assert not RequestRow.objects.exists()
    tasks.sweep()
    assert RequestRow.objects.count() == 1


def test_a_long_queue_is_counted_in_turns(
    edge: Sender, record: RecordMaker, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "DRAINED", 1)
    for _ in range(3):
        edge.records(record())
    tasks.drain()
    assert RequestRow.objects.count() == 3


def test_the_compactor_merges_what_is_over(edge: Sender, record: RecordMaker) -> None:
    for one in (record(), record()):
        edge.records(one)
    count_waiting()
    assert RollupDelta.objects.count() == 4
    tasks.compact()
    assert (RollupDelta.objects.count(), RollupStep.objects.count()) == (0, 2)
