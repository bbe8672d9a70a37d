"""A source's figures are kept as it is stored, so that a page costs the same after a year."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ingest import selectors, services
from ingest.models import Batch, Source, SourceTally
from ingest.services.stored import RejectedPiece
from ingest.services.tallies import KEPT_CODES, Tally, add
from tests.ingest.ingest_cast import SLUG, RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


def row(product: Any) -> selectors.SourceRow:
    (only,) = selectors.sources(product)
    return only


def test_refused_lines_are_counted_by_reason_with_the_newest_as_a_sample(
    product: Any, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record(), b"{", record(prompt="x"))
    edge.records(record(prompt="y"), record(prompt="z"))
    count_waiting()
    found = row(product)
    assert (found.inserted, found.rejected) == (1, 4)
    first, second = found.refusals
    assert (first.code, first.count, first.where) == ("text_not_allowed", 3, "line 2")
    assert second.count == 1
    assert first.batch == Batch.objects.latest("pk").pk


def test_a_record_that_comes_again_is_repeated_and_not_stored(
    product: Any, edge: Sender, record: RecordMaker
) -> None:
    same = record()
    edge.records(same)
    edge.records(same, record())
    count_waiting()
    assert (row(product).inserted, row(product).duplicates, row(product).batches) == (2, 1, 2)


def test_numbers_that_never_arrived_are_missing_and_those_that_wait_are_not(
    product: Any, edge: Sender, record: RecordMaker
) -> None:
    def numbered(first: int, last: int) -> None:
        boot: dict[str, Any] = {"Boot-Id": "b1", "First-Seq": str(first), "Last-Seq": str(last)}
        edge.records(*(record() for _ in range(last - first + 1)), **boot)

    numbered(1, 3)
    numbered(6, 6)
    count_waiting()
    assert row(product).missing == 2
    numbered(4, 4)
    assert (row(product).missing, row(product).waiting) == (1, 1)
    count_waiting()
    numbered(5, 5)
    count_waiting()
    assert row(product).missing == 0


def test_a_batch_tried_again_is_tallied_once(
    product: Any, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    count_waiting()
    services.process(Batch.objects.get().pk)
    assert (row(product).batches, row(product).inserted) == (1, 1)


def test_a_rate_is_over_whole_minutes_and_forgets_those_that_passed(product: Any) -> None:
    source = Source.objects.create(product=product, kind="otlp", name="o")
    now = datetime(2026, 5, 1, 12, 0, 30, tzinfo=UTC)
    for minutes, stored in ((9, 1000), (4, 100), (1, 50), (0, 7)):
        add(source.pk, Tally(stored=stored), now - timedelta(minutes=minutes))
    (found,) = selectors.sources(product, now)
    assert found.per_minute == 30.0
    assert found.inserted == 1157


def test_reasons_that_a_sender_invents_are_bounded(product: Any) -> None:
    source = Source.objects.create(product=product, kind="otlp", name="o")
    pieces = [RejectedPiece(line=n, code=f"code-{n}", message="m") for n in range(KEPT_CODES + 9)]
    add(source.pk, Tally(rejected=len(pieces), pieces=pieces))
    reasons = SourceTally.objects.get().reasons
    assert len(reasons) == KEPT_CODES + 1
    assert reasons["other"]["count"] == 9


def test_the_sources_cost_the_same_reads_however_many_batches_there_are(
    product: Any, edge: Sender, record: RecordMaker
) -> None:
    def reads() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            selectors.sources(product)
        assert not any('FROM "ingest_batch"' in q["sql"] and "'done'" in q["sql"] for q in seen)
        return len(seen)

    edge.records(record())
    count_waiting()
    before = reads()
    for _ in range(5):
        edge.records(record())
    count_waiting()
    assert reads() == before


def test_machines_read_rate_lag_and_reasons_of_a_source(edge: Sender, record: RecordMaker) -> None:
    edge.records(record(), b"{")
    count_waiting()
    (told,) = edge.client.get("/api/v1/ingest/sources").json()["results"]
    assert told["refusals"][0]["count"] == 1
    assert told["lag_ms"] >= 0
    assert told["silent"] is False


def test_a_dimension_past_its_bound_is_shown_with_what_is_counted_as_other(
    client: Any, ana: Any, product: Any, edge: Sender, record: RecordMaker, settings: Any
) -> None:
    settings.INGEST = replace(settings.INGEST, values=3)
    edge.records(*(record(segment={"region": f"region-{n}"}) for n in range(5)))
    count_waiting()
    client.force_login(ana)
    shown = client.get(f"/products/{SLUG}/sources/").context["dimensions"]
    found = {one.dimension: (one.kept, one.most, one.others) for one in shown}
    assert found["region"] == (3, 3, 2)
