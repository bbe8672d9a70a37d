import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from ingest.models import RequestRow
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


def _sent(edge: Sender, *records: Any) -> dict[str, Any]:
    batch_id = edge.records(*records).json()["batch_id"]
    count_waiting()
    answer: dict[str, Any] = edge.client.get(f"/api/v1/ingest/batches/{batch_id}").json()
    return answer


def test_a_malformed_line_loses_no_neighbour(edge: Sender, record: RecordMaker) -> None:
    answer = _sent(edge, record(), b'{"request_id": ', record())
    assert answer["counts"]["inserted"] == 2
    assert [(piece["line"], piece["code"]) for piece in answer["rejected"]] == [(2, "not_json")]


def test_text_is_refused_by_name_and_never_stored(edge: Sender, record: RecordMaker) -> None:
    answer = _sent(edge, record(prompt="a secret"), record())
    (piece,) = answer["rejected"]
    assert (piece["line"], piece["code"], piece["field"]) == (1, "text_not_allowed", "prompt")
    assert "secret" not in json.dumps(answer)
    assert RequestRow.objects.count() == 1


def test_not_a_number_is_one_rejected_line_that_names_the_field(
    edge: Sender, record: RecordMaker
) -> None:
    line = json.dumps(record(completion_ms=float("nan"))).encode()
    (piece,) = _sent(edge, line)["rejected"]
    assert (piece["code"], piece["field"]) == ("nan", "completion_ms")


def test_two_objects_on_one_line_are_one_rejected_line(edge: Sender, record: RecordMaker) -> None:
    both = b"".join(json.dumps(record()).encode() for _ in range(2))
    answer = _sent(edge, both, record())
    assert (answer["counts"]["inserted"], answer["counts"]["rejected"]) == (1, 1)


def test_a_byte_order_mark_is_no_part_of_the_first_record(
    edge: Sender, record: RecordMaker
) -> None:
    line = b"\xef\xbb\xbf" + json.dumps(record()).encode()
    assert _sent(edge, line)["counts"]["inserted"] == 1


def test_of_ten_requests_of_which_four_are_stored_six_are_inserted(
    edge: Sender, record: RecordMaker
) -> None:
    ten = [record() for _ in range(10)]
    _sent(edge, *ten[:4])
    counts = _sent(edge, *ten)["counts"]
    assert (counts["inserted"], counts["duplicates"]) == (6, 4)
    assert RequestRow.objects.count() == 10


def test_one_request_twice_in_one_batch_is_stored_once(edge: Sender, record: RecordMaker) -> None:
    one = record()
    counts = _sent(edge, one, one | {"outcome": "failed"})["counts"]
    assert (counts["inserted"], counts["duplicates"]) == (1, 1)
    assert RequestRow.objects.get().outcome == "completed"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"digest": "sha256:" + "0" * 64}, "unknown_digest"),
        ({"digest": None}, "no_generation"),
        ({"product": "another"}, "other_product"),
        ({"request_id": ""}, "empty"),
        ({"arrived_at": "2026-11-30T03:00:00"}, "bad_time"),
        ({"arrived_at": "1999-11-30T03:00:00Z"}, "bad_time"),
    ],
)
def test_a_record_that_cannot_be_judged_is_refused_with_its_code(
    edge: Sender, record: RecordMaker, changes: dict[str, Any], code: str
) -> None:
    answer = _sent(edge, record(**changes), record())
    assert [piece["code"] for piece in answer["rejected"]] == [code]
    assert answer["counts"]["inserted"] == 1


def test_an_arrival_in_the_future_is_refused(
    edge: Sender, record: RecordMaker, arrived_at: datetime
) -> None:
    later = (arrived_at + timedelta(hours=2)).isoformat()
    assert _sent(edge, record(arrived_at=later))["rejected"][0]["field"] == "arrived_at"


@pytest.mark.parametrize("name", ["a\x00b", "caf\u00e9", "\U0001f600"])
def test_no_name_that_a_sender_can_write_stops_a_batch(
    edge: Sender, record: RecordMaker, name: str
) -> None:
    answer = _sent(edge, record(tenant=name), record())
    assert answer["status"] == "done"
    assert answer["counts"]["inserted"] + answer["counts"]["rejected"] == 2


def test_the_row_says_what_was_decided_and_what_became_of_it(
    edge: Sender, record: RecordMaker, digest: str
) -> None:
    _sent(edge, record(outcome="timed_out", completion_ms=None))
    row = RequestRow.objects.get()
    assert (row.digest, row.publication, row.route) == (digest, 1, "full")
    assert row.outcome == "timed_out"
    assert {"offered", "eligible", "admitted", "timed_out"} <= set(row.populations)
    assert "technical_success" not in row.populations
    assert row.attempt_ids == ["attempt-1"]
