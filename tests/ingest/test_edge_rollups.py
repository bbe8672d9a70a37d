"""Rollups that an edge counted itself: checked, added once, and never beside its records."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from ingest.models import Batch
from ingest.selectors import RollupRow, rollup_rows
from ingest.services.compaction import compact
from orchid.engine.histogram import merge_all, percentile_ms
from policies.models import Product
from tests.ingest.ingest_cast import SLUG, RecordMaker, RollupMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
URL, REQUESTS = "/api/v1/ingest/rollups", "/api/v1/ingest/requests"


@pytest.fixture
def second_edge(product: Product, ana: Any) -> Sender:
    from accounts.guard import SYSTEM_ACTOR
    from accounts.services import issue_credential

    return Sender(
        issue_credential(SYSTEM_ACTOR, kind="edge", name="edge-2", product_slug=SLUG, owner=ana)[1]
    )


@pytest.fixture
def rows(product: Product, digest: str, arrived_at: datetime) -> Callable[[], list[RollupRow]]:
    def read() -> list[RollupRow]:
        start, end = arrived_at - timedelta(hours=1), arrived_at + timedelta(hours=1)
        return rollup_rows(product, digest, 1, "incumbent", start, end)

    return read


def _send(sender: Sender, *lines: dict[str, Any] | bytes, url: str = URL) -> Batch:
    body = b"\n".join(one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines)
    batch_id = f"rollups-{Batch.objects.count()}"
    assert sender.post(url, body, **{"Batch-Id": batch_id}).status_code == 202
    count_waiting()
    return Batch.objects.get(batch_id=batch_id)


def test_a_rollup_is_read_like_what_was_counted_from_records(
    edge: Sender, rollup: RollupMaker, rows: Any
) -> None:
    batch = _send(edge, rollup())
    assert batch.counts["inserted"] == 1
    assert batch.counts["requests"] == 10
    (row,) = rows()
    assert (row.counters["completed"], row.records, str(row.teu)) == (10, 10, "320.500000")
    assert row.within == {"completion<=1500": 10}
    assert row.figures["queue_ms"].total == 20_000


def test_percentiles_of_two_edges_come_from_their_merged_histograms(
    edge: Sender, second_edge: Sender, rollup: RollupMaker, rows: Any
) -> None:
    _send(edge, rollup(1000, 10.0))
    _send(second_edge, rollup(10, 2000.0))
    assert percentile_ms(merge_all(row.histogram for row in rows()), 0.95) == 10
    (shown,) = edge.client.get(URL).json()["results"]
    p95 = next(one for one in shown["percentiles"] if one["quantile"] == 0.95)
    assert p95["ms"] == 10
    assert "nearest rank" in p95["method"]


def test_the_same_rollup_changes_nothing_however_often_and_in_which_batch_it_comes(
    edge: Sender, rollup: RollupMaker, rows: Any, arrived_at: datetime
) -> None:
    later = (arrived_at + timedelta(seconds=5)).isoformat()
    first, second = rollup(), rollup(7, step_at=later)
    _send(edge, first, first)
    before = rows()
    batch = _send(edge, second, first)
    assert (batch.counts["inserted"], batch.counts["duplicates"]) == (1, 1)
    compact(arrived_at + timedelta(hours=1))
    assert _send(edge, first, second).counts["duplicates"] == 2
    assert rows()[:1] == before
    assert [row.records for row in rows()] == [10, 7]


def test_the_same_key_with_other_figures_is_refused_and_replaces_nothing(
    edge: Sender, rollup: RollupMaker, rows: Any
) -> None:
    _send(edge, rollup())
    batch = _send(edge, rollup(11))
    assert [piece["code"] for piece in batch.rejected] == ["rollup_differs"]
    assert [row.records for row in rows()] == [10]


def test_two_edges_add_to_one_rollup(
    edge: Sender, second_edge: Sender, rollup: RollupMaker, rows: Any
) -> None:
    _send(edge, rollup())
    _send(second_edge, rollup())
    assert [row.records for row in rows()] == [20]


def test_a_step_that_was_counted_from_records_takes_no_rollup_of_that_edge(
    edge: Sender, second_edge: Sender, record: RecordMaker, rollup: RollupMaker, rows: Any
) -> None:
    edge.records(record())
    count_waiting()
    batch = _send(edge, rollup())
    assert [piece["code"] for piece in batch.rejected] == ["counted_from_records"]
    assert _send(second_edge, rollup()).counts["inserted"] == 1


def test_a_record_of_a_step_that_was_counted_by_a_rollup_is_refused(
    edge: Sender, record: RecordMaker, rollup: RollupMaker, rows: Any
) -> None:
    _send(edge, rollup())
    batch = _send(edge, record(), url=REQUESTS)
    assert [piece["code"] for piece in batch.rejected] == ["counted_by_rollup"]
    assert [row.records for row in rows()] == [10]


def test_a_record_that_is_also_in_a_rollup_is_stored_and_not_counted_again(
    edge: Sender, record: RecordMaker, rollup: RollupMaker, rows: Any
) -> None:
    sample = _send(edge, record(in_rollup=True), url=REQUESTS)
    _send(edge, rollup())
    assert sample.counts["inserted"] == 1
    assert [row.records for row in rows()] == [10]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"digest": "sha256:unknown"}, "unknown_digest"),
        ({"product": "other"}, "other_product"),
        ({"prompt": "say"}, "text_not_allowed"),
        ({"segment": {"prompt": "x"}}, "text_not_allowed"),
        ({"records": 0}, "out_of_range"),
        ({"records": -1}, "out_of_range"),
        ({"counters": {"offered": 10, "eligible": -1}}, "out_of_range"),
        ({"counters": {"offered": 11, "eligible": 11}}, "exceeds_records"),
        ({"counters": {"offered": 9, "eligible": 10}}, "counters_differ"),
        ({"counters": {"offered": 10, "eligible": 10, "grinned": 1}}, "unknown_counter"),
        ({"histogram": {"7": 9}}, "histogram_differs"),
        ({"histogram": {"99999": 10}}, "out_of_range"),
        ({"bounds": {"completion<=1500": {"judged": 9, "within": 10}}}, "exceeds_population"),
        ({"bounds": {"completion<=1500": {"judged": 11, "within": 1}}}, "exceeds_population"),
        ({"figures": {"mood": {"count": 1, "total": 1, "maximum": 1}}}, "unknown_figure"),
        ({"figures": {"queue_ms": {"count": 2, "total": 9, "maximum": 4}}}, "figure_differs"),
        ({"figures": {"queue_ms": {"count": 11, "total": 9, "maximum": 4}}}, "exceeds_records"),
        ({"tenant": "acme"}, "two_keys"),
        ({"teu": "-1"}, "out_of_range"),
        ({"teu": "NaN"}, "out_of_range"),
        ({"step_at": "2026-01-01T00:00:00"}, "bad_time"),
        ({"step_at": "2001-01-01T00:00:00Z"}, "bad_time"),
    ],
)
def test_a_rollup_that_cannot_be_right_is_refused_and_loses_no_neighbour(
    edge: Sender, rollup: RollupMaker, rows: Any, changes: dict[str, Any], code: str
) -> None:
    batch = _send(edge, rollup(**changes), rollup(3))
    assert [(piece["line"], piece["code"]) for piece in batch.rejected] == [(1, code)]
    assert [row.records for row in rows()] == [3]


def test_a_step_that_starts_at_no_step_of_its_generation_is_refused(
    edge: Sender, rollup: RollupMaker, arrived_at: datetime
) -> None:
    batch = _send(edge, rollup(step_at=(arrived_at + timedelta(seconds=1)).isoformat()))
    assert [piece["code"] for piece in batch.rejected] == ["bad_step"]


def test_a_line_that_is_no_rollup_is_named(edge: Sender, rollup: RollupMaker) -> None:
    batch = _send(edge, b'{"records": NaN}', b"[1]", rollup())
    assert [piece["code"] for piece in batch.rejected] == ["nan", "not_an_object"]
    assert batch.counts["inserted"] == 1


def test_only_an_edge_delivers_rollups(
    ci: Sender, otel: Sender, rollup: RollupMaker, product: Product
) -> None:
    body = json.dumps(rollup()).encode()
    for sender in (ci, otel):
        assert sender.post(URL, body, **{"Batch-Id": "b"}).status_code == 403
    assert not Batch.objects.exists()


def test_a_rollup_by_tenant_is_read_by_tenant(
    edge: Sender, rollup: RollupMaker, arrived_at: datetime
) -> None:
    by_tenant = rollup(segment={}, route=None, tenant="acme")
    assert _send(edge, rollup(), by_tenant).counts["requests"] == 10
    (shown,) = edge.client.get(f"{URL}?by=tenant").json()["results"]
    assert (shown["tenant"], shown["records"], shown["segment"]) == ("acme", 10, {})
