from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.guard import person
from accounts.models import AuditEvent
from controlplane.errors import Conflict, Forbidden
from ingest import selectors, services
from ingest.models import Batch, RequestRow, RollupDelta, Source
from ingest.selectors.sources import EDGE_SILENT_AFTER
from ingest.services import processing, requests
from policies.models import Product
from tests.ingest.ingest_cast import SLUG, RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


class Crash(BaseException):
    """Stands for the kill of a worker: no handler of ours sees it."""


def _killed_after(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    real = getattr(requests, step)

    def then_die(*args: Any) -> Any:
        real(*args)
        raise Crash

    monkeypatch.setattr(requests, step, then_die)


@pytest.mark.parametrize("step", ["_documents", "copy_new", "append_deltas"])
def test_a_worker_killed_at_any_step_leaves_nothing_and_the_next_one_all(
    edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    edge.records(record(), record())
    batch = Batch.objects.get()
    with monkeypatch.context() as patch:
        _killed_after(patch, step)
        with pytest.raises(Crash):
            services.process(batch.pk)
    assert (RequestRow.objects.count(), RollupDelta.objects.count()) == (0, 0)
    services.process(batch.pk)  # the dead worker's lease still holds
    assert RequestRow.objects.count() == 0
    services.process(batch.pk, timezone.now() + processing.LEASE)
    assert RequestRow.objects.count() == 2
    batch.refresh_from_db()
    assert (batch.status, batch.tries) == ("done", 2)


def test_a_batch_is_counted_once_however_often_it_is_processed(
    edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    pk = Batch.objects.get().pk
    services.process(pk)
    once = RequestRow.objects.count(), RollupDelta.objects.count()
    for _ in range(2):
        services.process(pk, timezone.now() + timedelta(hours=1))
    assert (RequestRow.objects.count(), RollupDelta.objects.count()) == once
    assert once[0] == 1


def test_the_sweep_finds_what_no_worker_took_and_what_a_dead_one_left(
    edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    now = timezone.now()
    assert services.waiting_batches(now) == 1
    Batch.objects.update(lease_until=now + timedelta(seconds=30))
    assert services.waiting_batches(now + timedelta(seconds=29)) == 0
    assert services.waiting_batches(now + timedelta(seconds=30)) == 1


def test_one_message_counts_what_waits_and_says_whether_there_is_more(
    edge: Sender, record: RecordMaker
) -> None:
    for _ in range(3):
        edge.records(record())
    until = timezone.now() + timedelta(minutes=1)
    assert services.process_waiting(2, until) is True
    assert services.process_waiting(2, timezone.now()) is True  # its time was over
    assert RequestRow.objects.count() == 2
    assert services.process_waiting(2, until) is False
    assert RequestRow.objects.count() == 3


def test_a_batch_that_ends_its_worker_each_time_is_set_aside_and_keeps_its_body(
    edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge.records(record(), **{"Batch-Id": "deadly"})
    edge.records(record(), **{"Batch-Id": "sound"})
    deadly = Batch.objects.get(batch_id="deadly")

    def store(batch: Batch, body: bytes) -> Any:
        if batch.pk == deadly.pk:
            raise Crash
        return requests.store(batch, body)

    monkeypatch.setitem(processing.READERS, "edge", store)
    now = timezone.now()
    for again in range(processing.MAX_TRIES):
        with pytest.raises(Crash):
            services.process(deadly.pk, now + again * processing.LEASE)
    services.process_waiting(9, timezone.now() + timedelta(minutes=1))
    assert Batch.objects.get(batch_id="sound").status == "done"
    services.process(deadly.pk, now + processing.MAX_TRIES * processing.LEASE)
    deadly.refresh_from_db()
    assert (deadly.status, deadly.body is None) == ("set_aside", False)
    assert "was ended" in deadly.reason


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_runs_out_under_a_living_worker_takes_nothing_from_it(
    edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge.records(record())
    pk = Batch.objects.get().pk
    late = timezone.now() + processing.LEASE * 2
    real = requests.store

    def slow(batch: Batch, body: bytes) -> Any:
        with ThreadPoolExecutor(1) as second:
            second.submit(_alone, lambda: services.process(pk, late)).result(timeout=60)
        return real(batch, body)

    monkeypatch.setitem(processing.READERS, "edge", slow)
    services.process(pk)
    batch = Batch.objects.get()
    assert (batch.status, batch.tries, batch.counts["inserted"]) == ("done", 1, 1)


def _alone(work: Callable[[], None]) -> None:
    """Run in a thread with a connection of its own."""
    try:
        work()
    finally:
        connection.close()


def test_a_poison_batch_is_set_aside_and_holds_up_nobody(
    edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge.records(record(), **{"Batch-Id": "poison"})
    with monkeypatch.context() as patch:
        patch.setattr(requests, "append_deltas", lambda *_: 1 / 0)
        patch.setitem(processing.READERS, "edge", requests.store)
        pk = Batch.objects.get().pk
        for again in range(processing.MAX_TRIES + 1):
            services.process(pk, timezone.now() + timedelta(hours=again))
    poison = Batch.objects.get(batch_id="poison")
    assert (poison.status, poison.tries) == ("set_aside", processing.MAX_TRIES)
    assert poison.body is not None
    edge.records(record())
    count_waiting()
    assert RequestRow.objects.count() == 1


def test_a_batch_that_was_set_aside_can_be_tried_again_by_who_may(
    edge: Sender, record: RecordMaker, ana: Any, eve: Any
) -> None:
    edge.records(record())
    Batch.objects.update(status="set_aside", tries=5, reason="Gave up.")
    batch = Batch.objects.select_related("product").get()
    with pytest.raises(Forbidden):
        services.retry(person(eve), batch)
    services.retry(person(ana), batch)
    assert AuditEvent.objects.get(action="batch.retried").actor == "ana"
    with pytest.raises(Conflict):
        services.retry(person(ana), batch)
    count_waiting()
    assert RequestRow.objects.count() == 1


def test_a_file_of_another_kind_is_set_aside_with_its_reason(ci: Sender, recordings: Any) -> None:
    ci.file(recordings / "run1/client-log.jsonl", "kind=statistics")
    count_waiting()
    batch = Batch.objects.get()
    assert batch.status == "set_aside"
    assert "not a Triton statistics answer" in batch.reason


def _stamp(minute: int) -> str:
    return datetime(2026, 11, 30, 3, minute, tzinfo=UTC).isoformat()


def test_the_watermark_never_passes_a_batch_that_waits(
    edge: Sender, record: RecordMaker, product: Product
) -> None:
    for minute in (1, 2, 3):
        edge.records(record(), Watermark=_stamp(minute))
    first, second, third = Batch.objects.order_by("pk")
    assert selectors.watermark(product) is None
    services.process(third.pk)
    assert selectors.watermark(product) is None
    services.process(first.pk)
    assert selectors.watermark(product) == datetime(2026, 11, 30, 3, 1, tzinfo=UTC)
    services.process(second.pk)
    assert selectors.watermark(product) == datetime(2026, 11, 30, 3, 3, tzinfo=UTC)


def test_an_idle_edge_moves_the_watermark_with_an_empty_batch(
    edge: Sender, product: Product
) -> None:
    edge.records(Watermark=_stamp(7))
    count_waiting()
    assert selectors.watermark(product) == datetime(2026, 11, 30, 3, 7, tzinfo=UTC)


def test_a_clock_that_runs_ahead_counts_nothing_that_is_yet_to_come(
    edge: Sender, product: Product
) -> None:
    ahead = timezone.now() + timedelta(minutes=4)
    edge.records(Watermark=ahead.isoformat())
    count_waiting()
    reached = selectors.watermark(product)
    assert reached is not None
    assert reached <= timezone.now()


def test_a_silent_edge_does_not_hold_the_watermark(edge: Sender, product: Product) -> None:
    edge.records(Watermark=_stamp(7))
    count_waiting()
    later = timezone.now() + EDGE_SILENT_AFTER * 2
    assert selectors.watermark(product, later) is None


def test_numbered_records_that_never_came_are_counted_as_missing(
    edge: Sender, record: RecordMaker, product: Product
) -> None:
    boot = {"Boot-Id": "boot-1"}
    edge.records(record(), record(), **boot, **{"First-Seq": "1", "Last-Seq": "2"})
    edge.records(record(), **boot, **{"First-Seq": "6", "Last-Seq": "6"})
    edge.records(**{"Boot-Id": "boot-2"})
    count_waiting()
    (row,) = selectors.sources(product)
    assert row.missing == 3
    assert row.inserted == 3


def test_the_application_role_counts_and_makes_a_day_and_may_do_no_more(
    edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE orchid_app")
        count_waiting()
        assert RequestRow.objects.count() == 1
        with pytest.raises(ProgrammingError), transaction.atomic():
            cursor.execute("DROP TABLE ingest_request")
        cursor.execute("RESET ROLE")
    assert Source.objects.get().product.slug == SLUG
