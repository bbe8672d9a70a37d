"""Stored requests come back as admission saw them when they were sent."""

import json
from datetime import datetime, timedelta

import pytest
from msgspec import structs

from ingest.selectors import recorded_requests
from orchid.engine.decision_diff import Recorded, read_recorded
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1)


def read(product: Product, until: datetime, limit: int = 100) -> list[Recorded]:
    return list(recorded_requests(product, until=until, limit=limit))


def test_a_record_comes_back_as_it_was_sent(
    edge: Sender, product: Product, record: RecordMaker, arrived_at: datetime
) -> None:
    attempts = [{"attempt_id": "a", "route": "full", "start_ms": 3.5, "released_ms": 410.0}]
    decision = {"action": "fallback", "route": "compact", "teu": "1.5"}
    sent = record(tenant="acme", max_output_tokens=70, decision=decision, attempts=attempts)
    edge.records(sent)
    count_waiting()
    (found,) = read(product, arrived_at + LATER)
    expected = read_recorded(json.dumps(sent).encode())
    assert found.deadline_ms is not None  # the class's own, where the record says none
    assert structs.replace(found, deadline_ms=expected.deadline_ms) == expected


def test_a_request_that_was_never_tried_has_no_attempt(
    edge: Sender, product: Product, record: RecordMaker, arrived_at: datetime
) -> None:
    edge.records(record(outcome="rejected", attempts=[], decision={"action": "reject"}))
    count_waiting()
    (found,) = read(product, arrived_at + LATER)
    assert (found.attempts, found.decision and found.decision.route) == ((), None)


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
