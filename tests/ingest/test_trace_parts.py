"""A file in parts, in any order and again, comes to the rows of the whole file."""

import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from ingest import selectors
from ingest.models import Batch, EngineAttempt, EngineHeader
from ingest.services import forgetting, process
from ingest.services.partitions import RETENTION
from policies.models import Product
from tests.ingest.trace_cast import Bringer, execution, header, stamp, stamps, written

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(product: Product) -> Bringer:
    return Bringer(product)


def _family() -> list[dict[str, Any]]:
    """An ensemble of two steps, a router with one, one that was alone, one that never computed."""
    return [
        header(1, "chain", request_id="r-1"),
        *stamps(1, request_start=0, queue_start=1, infer_response_complete=95, request_end=100),
        *execution(2, 10, "compact", parent_id=1, request_id="r-1"),
        *execution(3, 20, "premium", parent_id=1, request_id="r-1"),
        *execution(4, 1000, "router", request_id="r-4"),
        *execution(5, 1015, "compact", parent_id=4),
        *execution(6, 2000, "full", request_id="r-6"),
        header(7, "chain", request_id="r-7"),
        *stamps(7, request_start=3000, queue_start=3000, infer_response_complete=3100),
        header(8, "full"),
        *stamps(8, request_start=4000, queue_start=4001, infer_response_complete=4100),
    ]


def _cut(objects: list[Any], dice: Random) -> Iterator[list[Any]]:
    places = sorted(dice.sample(range(len(objects) + 1), k=4))
    for start, end in zip([0, *places], [*places, len(objects)], strict=True):
        yield objects[start:end]


@pytest.mark.parametrize("seed", range(12))
def test_parts_in_any_order_and_again_come_to_the_rows_of_the_whole(
    inbox: Bringer, seed: int
) -> None:
    dice = Random(seed)
    objects = _family()
    inbox.bring(written(*objects), "whole")
    whole = inbox.rows("whole")
    dice.shuffle(objects)
    parts = [*_cut(objects, dice), *_cut(objects, dice)]
    dice.shuffle(parts)
    for part in parts:
        inbox.bring(written(*part), "parts")
    assert inbox.rows("parts") == whole
    assert len(whole) == 8
    assert not EngineHeader.objects.exists()


def test_the_whole_family_is_broken_down(inbox: Bringer) -> None:
    inbox.bring(written(*_family()))
    rows = {row["engine_id"]: row for row in inbox.rows()}
    assert rows[1]["exclusive_ms"] == pytest.approx(30e-6)  # 100 less the 70 of both steps
    assert (rows[1]["compute_ms"], rows[1]["ending"]) == (None, "answered")
    assert rows[2]["parent_key"] == rows[3]["parent_key"] == rows[1]["key"]
    assert rows[4]["exclusive_ms"] is None or rows[4]["exclusive_ms"] == pytest.approx(15e-6)
    assert (rows[6]["composite"], rows[6]["exclusive_ms"]) == (False, None)
    # An ensemble that failed before a step, and a request that timed out in the queue.
    assert (rows[7]["ending"], rows[8]["ending"]) == ("answered", "queue_timeout")


def test_a_model_that_calls_others_and_computes_may_time_out_in_the_queue(inbox: Bringer) -> None:
    objects = [
        *execution(4, 1000, "router"),
        *execution(5, 1015, "compact", parent_id=4),
        header(6, "router"),
        *stamps(6, request_start=2000, queue_start=2000, infer_response_complete=2100),
    ]
    inbox.bring(written(*objects), "together")
    # The children come first, so that for a while the router looks like an ensemble.
    inbox.bring(written(*objects[8:]), "apart")
    inbox.bring(written(objects[1]), "apart")
    inbox.bring(written(*objects[2:8]), "apart")
    inbox.bring(written(objects[0]), "apart")
    assert inbox.rows("apart") == inbox.rows("together")
    assert inbox.attempt(6, "apart").ending == "queue_timeout"


@pytest.mark.parametrize("child_first", [True, False])
def test_a_parent_is_broken_down_when_its_child_comes_in_another_part(
    inbox: Bringer, child_first: bool
) -> None:
    parent = [header(1), *stamps(1, compute_start=0, compute_end=2_054_650)]
    child = [header(2, parent_id=1), *stamps(2, compute_start=100_000, compute_end=1_900_000)]
    if not child_first:
        inbox.bring(written(*parent))
        alone = inbox.attempt(1)
        assert (alone.request_ms, alone.exclusive_ms) == (2.05465, None)
    inbox.bring(written(*child))
    if child_first:
        inbox.bring(written(*parent))
    both = inbox.attempt(1)
    assert (both.request_ms, both.exclusive_ms) == (2.05465, 0.25465)
    assert inbox.attempt(2).parent_key == both.key


def test_a_torn_file_and_then_the_whole_adds_only_what_is_new(inbox: Bringer) -> None:
    whole = written(header(1), *stamps(1, queue_start=10, compute_start=30, compute_end=90))
    torn = inbox.bring(whole[: whole.index(b"COMPUTE_START") + 5])
    assert (torn.counts["inserted"], torn.counts["partial"]) == (1, 1)
    (piece,) = torn.rejected
    assert piece["offset"] == whole.index(b'{"id":1,"timestamps":[{"name":"COMPUTE_START"')
    full = inbox.bring(whole)
    assert full.counts["inserted"] == 0
    assert (full.counts["completed_later"], full.counts["partial"]) == (1, 0)
    assert inbox.bring(whole).counts["duplicates"] == 1
    assert EngineAttempt.objects.count() == 1
    assert inbox.attempt(1).queue_ms == 20e-6


def test_a_header_waits_for_the_stamps_of_the_next_part(inbox: Bringer) -> None:
    first = inbox.bring(written(header(9, "full", request_id="r-9")))
    assert (first.status, first.counts["executions"]) == ("done", 0)
    inbox.bring(written(*stamps(9, queue_start=1, compute_start=3)))
    found = inbox.attempt(9)
    assert (found.model, found.attempt_id, found.queue_ms) == ("full", "r-9", 2e-6)


def test_a_restart_that_reuses_numbers_gives_other_executions(inbox: Bringer) -> None:
    before = [one for i in (1, 2, 3) for one in execution(i, 9 * 10**15 + i)]
    after = [one for i in (1, 2, 3) for one in execution(i, 5 * 10**12 + i)]
    inbox.bring(written(*before))
    assert inbox.bring(written(*after)).counts["inserted"] == 3
    rows = inbox.rows()
    assert len(rows) == 6
    assert {row["request_ms"] for row in rows} == {60e-6}
    inbox.bring(written(*before, *after), "one file")
    assert inbox.rows("one file") == rows


def test_objects_out_of_order_give_the_first_and_the_last_response(inbox: Bringer) -> None:
    inbox.bring(
        written(
            *stamps(7, request_start=5, infer_response_complete=90),
            header(7, "full", request_id="r"),
            stamp(7, "INFER_RESPONSE_COMPLETE", 40),
            stamp(7, "INFER_RESPONSE_COMPLETE", 40),
        )
    )
    found = inbox.attempt(7)
    assert found.stamps == [
        ["REQUEST_START", 5],
        ["INFER_RESPONSE_COMPLETE", 40],
        ["INFER_RESPONSE_COMPLETE", 90],
    ]
    assert found.attempt_id == "r"
    (seen,) = selectors.joined(inbox.product, [found])
    assert (seen.first_response_ms, seen.last_response_ms) == (35e-6, 85e-6)


def test_a_cancelled_request_has_no_compute_time(inbox: Bringer) -> None:
    inbox.bring(written(header(1), *stamps(1, request_start=0, queue_start=1, request_end=50)))
    found = inbox.attempt(1)
    assert (found.ending, found.compute_ms, found.request_ms) == ("cancelled", None, 50e-6)


def test_tensor_contents_are_nowhere_in_the_rows(inbox: Bringer, data: Path) -> None:
    body = (data / "triton/trace-tensors-level.json").read_bytes()
    assert inbox.bring(body).counts["tensors_dropped"] == 125
    assert b"one two three" in body
    assert "one two three" not in repr(inbox.rows())


def test_what_is_past_retention_is_forgotten_and_the_rest_stays(
    inbox: Bringer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "ROWS", 2)
    inbox.bring(written(*(one for number in range(1, 6) for one in execution(number, 100))))
    inbox.bring(written(header(90, "full")))
    EngineAttempt.objects.filter(engine_id__lte=4).update(received_at=timezone.now() - RETENTION)
    EngineHeader.objects.update(received_at=timezone.now() - RETENTION)
    forgetting.forget_executions(timezone.now())
    assert [row["engine_id"] for row in inbox.rows()] == [5]
    assert not EngineHeader.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_parts_of_one_run_lose_no_stamp(inbox: Bringer) -> None:
    objects = [one for number in range(1, 60) for one in execution(number, 1000 * number)]
    inbox.bring(written(*objects), "whole")
    whole = inbox.rows("whole")
    halves = [inbox.stored(written(*objects[start::2]), "parts") for start in (0, 1)]
    start = threading.Barrier(2, timeout=60)

    def work(batch: Batch) -> None:
        try:
            start.wait()
            process(batch.pk)
        finally:
            connection.close()

    workers = [threading.Thread(target=work, args=(batch,)) for batch in halves]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert inbox.rows("parts") == whole
