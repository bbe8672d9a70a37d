"""What was new of a delivery, and lists whose rows came in the same instant."""

from typing import Any

import pytest
from django.utils import timezone

from ingest.models import Batch, RequestRow, Source
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


def test_of_ten_records_four_that_are_stored_are_duplicates(
    edge: Sender, record: RecordMaker
) -> None:
    known = [record() for _ in range(4)]
    edge.records(*known)
    edge.records(*known, *(record() for _ in range(6)), **{"Batch-Id": "ten"})
    count_waiting()
    counts = edge.client.get("/api/v1/ingest/batches/ten").json()["counts"]
    assert (counts["inserted"], counts["duplicates"]) == (6, 4)
    assert RequestRow.objects.count() == 10


def test_a_record_twice_in_one_delivery_is_one_and_a_duplicate(
    edge: Sender, record: RecordMaker
) -> None:
    one = record()
    edge.records(one, one, record(), **{"Batch-Id": "b"})
    count_waiting()
    counts = edge.client.get("/api/v1/ingest/batches/b").json()["counts"]
    assert (counts["inserted"], counts["duplicates"]) == (2, 1)


def test_a_delivery_under_two_ids_counts_its_records_once(
    edge: Sender, record: RecordMaker
) -> None:
    one = record()
    for name in ("b1", "b2"):
        edge.records(one, **{"Batch-Id": name})
    count_waiting()
    stored = Batch.objects.order_by("batch_id").values_list("counts", flat=True)
    assert [counts["inserted"] for counts in stored] == [1, 0]


def test_rows_of_one_instant_come_once_each_forward_and_back(
    edge: Sender, product: Product
) -> None:
    now, source = timezone.now(), Source.objects.create(product=product, kind="edge", name="e")
    whose: dict[str, Any] = {"product": product, "source": source, "kind": "edge"}
    what: dict[str, Any] = {"status": "done", "size": 0, "sha256": "", "received_at": now}
    names = [f"b{number}" for number in range(100)]
    Batch.objects.bulk_create(Batch(batch_id=name, **whose, **what) for name in names)
    first = _page(edge, "")
    second = _page(edge, first["next_cursor"])
    assert second["next_cursor"] == ""
    seen = [row["batch_id"] for row in first["results"] + second["results"]]
    assert seen == names[::-1]
    assert [_page(edge, ""), _page(edge, first["next_cursor"])] == [first, second]


def _page(edge: Sender, cursor: str) -> Any:
    answer = edge.client.get("/api/v1/ingest/batches", {"cursor": cursor}).json()
    assert len(answer["results"]) == 50
    return answer
