from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from ingest import tasks
from ingest.models import Batch, RequestRow, RollupDelta, Source
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting, token

pytestmark = pytest.mark.django_db
ABOUT_A_RECORD = 1_100


def test_a_batch_is_stored_before_it_is_acknowledged(edge: Sender, record: RecordMaker) -> None:
    answer = edge.records(record(), **{"Batch-Id": "b1"})
    assert answer.status_code == 202
    batch = Batch.objects.get(batch_id="b1")
    assert batch.status == "received"
    assert batch.body is not None
    assert not RequestRow.objects.exists()


def test_counts_can_be_asked_for_once_it_is_counted(edge: Sender, record: RecordMaker) -> None:
    edge.records(record(), record(), **{"Batch-Id": "b1"})
    count_waiting()
    answer = edge.client.get("/api/v1/ingest/batches/b1").json()
    assert answer["status"] == "done"
    assert answer["counts"] == {"records": 2, "inserted": 2, "duplicates": 0, "rejected": 0}
    assert Batch.objects.get().body is None


def test_the_same_batch_again_is_200_and_changes_nothing(edge: Sender, record: RecordMaker) -> None:
    one = record()
    assert edge.records(one, **{"Batch-Id": "b1"}).status_code == 202
    count_waiting()
    deltas = RollupDelta.objects.count()
    again = edge.records(one, **{"Batch-Id": "b1"})
    count_waiting()
    assert again.status_code == 200
    assert again.json()["counts"]["inserted"] == 1
    assert (Batch.objects.count(), RequestRow.objects.count()) == (1, 1)
    assert RollupDelta.objects.count() == deltas


def test_a_batch_id_with_other_content_is_a_conflict(edge: Sender, record: RecordMaker) -> None:
    edge.records(record(), **{"Batch-Id": "b1"})
    answer = edge.records(record(), **{"Batch-Id": "b1"})
    assert (answer.status_code, answer.json()["code"]) == (409, "batch_id_reused")


def test_records_that_verdicts_rest_on_come_from_an_edge_alone(
    edge: Sender, otel: Sender, record: RecordMaker, client: Client, ana: User
) -> None:
    ci = Sender(token("ci", ana))
    assert [one.records(record()).status_code for one in (otel, ci, edge)] == [403, 403, 202]
    client.force_login(ana)
    by_hand = client.post(
        "/api/v1/ingest/requests?product=orchid-demo", b"", "text/plain", headers={"Batch-Id": "b"}
    )
    assert by_hand.status_code == 403
    assert Source.objects.get().name == "edge-1"


def test_a_body_over_the_bound_is_refused(edge: Sender) -> None:
    answer = edge.post("/api/v1/ingest/requests", b"x" * (8 * 1024**2 + 1), **{"Batch-Id": "b"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "batch_id_missing"),
        ({"Batch-Id": "no spaces"}, "bad_batch_id"),
        ({"Batch-Id": "b", "First-Seq": "-1"}, "bad_header"),
        ({"Batch-Id": "b", "Watermark": "2026-11-30T03:00:00"}, "bad_header"),
        ({"Batch-Id": "b", "Watermark": "now"}, "bad_header"),
    ],
)
def test_a_delivery_that_says_too_little_is_told_what_is_missing(
    edge: Sender, headers: dict[str, str], code: str
) -> None:
    answer = edge.post("/api/v1/ingest/requests", b"", **headers)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize(
    "bounds",
    [
        {"product_batches": 2},
        {"product_bytes": 2 * ABOUT_A_RECORD},
        {"all_batches": 2},
        {"all_bytes": 2 * ABOUT_A_RECORD},
    ],
    ids=str,
)
def test_a_full_inbox_asks_to_wait_and_takes_more_once_it_is_counted(
    edge: Sender, record: RecordMaker, settings: Any, bounds: dict[str, int]
) -> None:
    settings.INBOX = replace(settings.INBOX, **bounds)
    sent = [edge.records(record()).status_code for _ in range(2)]
    answer = edge.records(record())
    assert sent == [202, 202]
    assert (answer.status_code, answer.json()["code"]) == (429, "inbox_full")
    assert 3 <= int(answer["Retry-After"]) <= 10
    assert "application/problem+json" in answer["Content-Type"]
    count_waiting()
    assert edge.records(record()).status_code == 202


def test_what_is_set_aside_takes_room_of_files_and_no_place_in_the_queue(
    ci: Sender, settings: Any, tmp_path: Path
) -> None:
    file = tmp_path / "metrics.txt"
    file.write_bytes(b"no metrics at all " * 50)
    ci.file(file, "kind=metrics")
    Batch.objects.update(status="set_aside")
    size = Batch.objects.get().size
    settings.INBOX = replace(settings.INBOX, product_batches=1, product_bytes=size * 3 // 2)
    answer = ci.file(file, "kind=metrics")
    assert (answer.status_code, answer.json()["code"]) == (429, "inbox_full")
    told = answer.json()["detail"]
    assert f"{size} bytes of orchid-demo were set aside" in told
    assert "0 batches with 0 bytes" in told
    assert "or for 30 days" in told
    settings.INBOX = replace(settings.INBOX, product_batches=1, product_bytes=3 * size)
    assert ci.file(file, "kind=metrics").status_code == 202


def test_what_is_set_aside_never_holds_up_an_edge(
    edge: Sender, record: RecordMaker, settings: Any
) -> None:
    edge.records(record())
    Batch.objects.update(status="set_aside")
    size = Batch.objects.get().size
    settings.INBOX = replace(settings.INBOX, product_bytes=size // 2, all_bytes=size // 2)
    assert edge.records(record()).status_code == 202


def test_a_batch_that_is_stored_is_acknowledged_again_by_a_full_inbox(
    edge: Sender, record: RecordMaker, settings: Any
) -> None:
    settings.INBOX = replace(settings.INBOX, product_batches=1)
    one = record()
    first, again = (edge.records(one, **{"Batch-Id": "b1"}).status_code for _ in range(2))
    assert (first, again) == (202, 200)


def test_an_empty_inbox_takes_a_batch_that_is_larger_than_its_bound(
    edge: Sender, record: RecordMaker, settings: Any
) -> None:
    settings.INBOX = replace(settings.INBOX, product_bytes=10, all_bytes=10)
    assert edge.records(record()).status_code == 202


def test_a_broker_that_is_down_loses_nothing(
    edge: Sender,
    record: RecordMaker,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def down(**_: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(tasks.drain, "apply_async", down)
    with django_capture_on_commit_callbacks(execute=True):
        assert edge.records(record()).status_code == 202
    count_waiting()
    assert RequestRow.objects.count() == 1


def test_only_who_may_send_can(otel: Sender, edge: Sender, client: Client, eve: Any) -> None:
    assert client.post("/api/v1/ingest/requests", b"", "text/plain").status_code == 401
    other = edge.post("/api/v1/ingest/requests?product=other", b"", **{"Batch-Id": "b"})
    assert (other.status_code, other.json()["code"]) == (403, "forbidden")
    client.force_login(eve)
    asked = client.get("/api/v1/ingest/sources?product=orchid-demo")
    assert asked.status_code == 200
    sent = client.post(
        "/api/v1/ingest/requests?product=orchid-demo", b"", "text/plain", headers={"Batch-Id": "b"}
    )
    assert sent.status_code == 403
