from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ingest.models import RequestRow, RollupDelta, RollupStep
from ingest.selectors import RollupRow, rollup_rows
from ingest.selectors.recount import recount
from ingest.services.compaction import compact
from orchid.engine.histogram import merge_all, percentile_ms
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(product: Product, digest: str, arrived_at: datetime) -> Any:
    def read(publication: int = 1, cohort: str = "incumbent") -> list[RollupRow]:
        start, end = arrived_at - timedelta(hours=1), arrived_at + timedelta(hours=1)
        return rollup_rows(product, digest, publication, cohort, start, end)

    return read


def _p95(rows: list[RollupRow]) -> float | None:
    return percentile_ms(merge_all(row.histogram for row in rows), 0.95)


@pytest.mark.parametrize("batches", [1, 2, 7])
def test_the_tail_is_pooled_and_not_averaged_however_it_was_batched(
    edge: Sender, record: RecordMaker, arrived_at: datetime, rows: Any, batches: int
) -> None:
    sent = [
        record(
            completion_ms=1200.0 if number < 18 else 4000.0,
            arrived_at=(arrived_at + timedelta(minutes=minute)).isoformat(),
        )
        for minute in range(10)
        for number in range(20)
    ]
    for part in range(batches):
        edge.records(*sent[part::batches])
        edge.records(*sent[part::batches])
    count_waiting()
    assert _p95(rows()) == 4000
    assert sum(row.counters["offered"] for row in rows()) == 200
    assert sum(row.within["completion<=1500"] for row in rows()) == 180


def test_a_bound_is_counted_exactly_on_its_edge(
    edge: Sender, record: RecordMaker, rows: Any
) -> None:
    edge.records(*(record(completion_ms=ms) for ms in (1499.9, 1500.0, 1500.1)))
    count_waiting()
    (row,) = rows()
    assert row.within == {"completion<=1500": 2}


def test_what_ended_without_an_answer_lies_outside_every_bound(
    edge: Sender, record: RecordMaker, rows: Any
) -> None:
    edge.records(record(), record(outcome="failed", completion_ms=100.0), record(outcome="lost"))
    count_waiting()
    (row,) = rows()
    assert row.counters["latency_counted"] == 3
    assert row.within["completion<=1500"] == 1
    assert row.counters["technical_success"] == 1


def test_rows_are_kept_apart_by_step_publication_cohort_segment_and_route(
    edge: Sender, record: RecordMaker, arrived_at: datetime, rows: Any
) -> None:
    premium = {"task": "assistant", "tenant_class": "premium"}
    fallback = {"action": "fallback", "route": "compact", "teu": "96"}
    edge.records(
        record(),
        record(arrived_at=(arrived_at + timedelta(seconds=4.9)).isoformat()),
        record(arrived_at=(arrived_at + timedelta(seconds=5)).isoformat()),
        record(segment=premium),
        record(publication=2),
        record(cohort="candidate"),
        record(decision=fallback, attempts=[]),
    )
    count_waiting()
    assert sorted(row.records for row in rows()) == [1, 1, 1, 2]
    assert [row.records for row in rows(publication=2)] == [1]
    assert [row.records for row in rows(cohort="candidate")] == [1]
    (other,) = (row for row in rows() if row.route == "compact")
    assert other.counters["fallback"] == 1
    assert float(other.teu) == 96


def test_merging_deltas_changes_no_figure(
    edge: Sender, record: RecordMaker, arrived_at: datetime, rows: Any
) -> None:
    for milliseconds in (200.0, 900.0, 1800.0):
        edge.records(record(completion_ms=milliseconds), record(outcome="rejected"))
    count_waiting()
    before = rows()
    assert RollupDelta.objects.count() == 6
    merged = compact(arrived_at + timedelta(hours=1))
    assert merged > 0
    assert rows() == before
    assert (RollupDelta.objects.count(), RollupStep.objects.count()) == (0, 2)
    assert compact(arrived_at + timedelta(hours=1)) == 0


OUTCOMES = ["completed", "failed", "timed_out", "cancelled", "rejected", "deferred"]


def test_rollups_equal_a_recount_of_the_rows(
    edge: Sender, record: RecordMaker, product: Product, arrived_at: datetime
) -> None:
    sent = [record(outcome=OUTCOMES[number % 6], tenant=f"t{number % 3}") for number in range(30)]
    edge.records(*sent[:20])
    edge.records(*sent[10:])
    count_waiting()
    found = recount(product, arrived_at, arrived_at + timedelta(hours=1))
    assert (found.requests, found.differences) == (30, [])
    compact(arrived_at + timedelta(hours=1))
    assert recount(product, arrived_at, arrived_at + timedelta(hours=1)) == found


def test_a_recount_names_what_a_rollup_has_wrong(
    edge: Sender, record: RecordMaker, product: Product, arrived_at: datetime
) -> None:
    edge.records(record(), record(completion_ms=1800.0))
    count_waiting()
    RequestRow.objects.filter(completion_ms=1800.0).delete()
    found = recount(product, arrived_at, arrived_at + timedelta(hours=1))
    wrong = {one.figure: (one.rollup, one.rows) for one in found.differences}
    assert wrong["offered"] == (2, 1)
    assert {"records", "teu", "histogram"} <= wrong.keys()
    with pytest.raises(CommandError, match="figures differ"):
        call_command("recount", product.slug)
