"""Stored requests come back as the records that they were sent as."""

import json
from datetime import datetime, timedelta

import pytest

from ingest.selectors import recorded_requests
from orchid.engine.wire.records import RequestRecord, parse_record
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1)


def read(product: Product, until: datetime, limit: int = 100) -> list[RequestRecord]:
    return list(recorded_requests(product, until=until, limit=limit))


def test_a_record_comes_back_as_it_was_sent(
    edge: Sender, product: Product, record: RecordMaker, arrived_at: datetime
) -> None:
    sent = record(tenant="acme", max_output_tokens=70, decision={"action": "admit", "teu": "1.5"})
    edge.records(sent)
    count_waiting()
    (found,) = read(product, arrived_at + LATER)
    expected = parse_record(json.dumps(sent).encode())
    for name in (
        *("request_id", "product", "class_", "tenant", "segment", "outcome", "digest", "decision"),
        *("attempts", "arrived_at", "input_tokens", "max_output_tokens", "output_tokens"),
    ):
        assert getattr(found, name) == getattr(expected, name), name


def test_the_newest_come_oldest_first(
    edge: Sender, product: Product, record: RecordMaker, arrived_at: datetime
) -> None:
    moments = [arrived_at + timedelta(seconds=n) for n in range(5)]
    edge.records(*(record(arrived_at=moment.isoformat()) for moment in reversed(moments)))
    count_waiting()
    assert [one.arrived_at for one in read(product, arrived_at + LATER, 3)] == moments[2:]
    assert [one.arrived_at for one in read(product, moments[1])] == moments[:2]


def test_of_arrivals_in_one_moment_no_more_come_than_were_wanted(
    edge: Sender, product: Product, record: RecordMaker, arrived_at: datetime
) -> None:
    edge.records(*(record(arrived_at=arrived_at.isoformat()) for _ in range(6)))
    count_waiting()
    assert len(read(product, arrived_at, 4)) == 4


def test_where_nothing_is_stored_nothing_comes(product: Product, arrived_at: datetime) -> None:
    assert read(product, arrived_at) == []
