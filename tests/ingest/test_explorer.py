"""One request's attempts on their clocks, and the search that finds it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from ingest.models import ClientCall, EngineAttempt, RequestRow, Source
from tests.ingest.ingest_cast import SLUG, RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
SECOND = 1_000_000_000
STAMPS: list[tuple[str, int]] = [
    ("REQUEST_START", 0),
    ("QUEUE_START", 1_000_000),
    ("COMPUTE_START", 21_000_000),
    ("COMPUTE_INPUT_END", 22_000_000),
    ("COMPUTE_OUTPUT_START", 72_000_000),
    ("COMPUTE_END", 73_000_000),
    ("REQUEST_END", 75_000_000),
]


@pytest.fixture
def engineer(client: Client, ana: Any, product: Any) -> Client:
    client.force_login(ana)
    return client


@pytest.fixture
def source(product: Any) -> Source:
    return Source.objects.create(product=product, kind="triton_trace", name="six")


def executed(source: Source, attempt_id: str, zero: int, **changes: Any) -> EngineAttempt:
    given = {
        "product": source.product,
        "source": source,
        "key": f"{attempt_id}:{zero}",
        "attempt_id": attempt_id,
        "model": "full",
        "clock": "steady",
        "first_ns": zero,
        "events": len(STAMPS),
        "ending": "answered",
        "composite": False,
        "responses": 1,
        "stamps": [[name, zero + ns] for name, ns in STAMPS],
        **changes,
    }
    return EngineAttempt.objects.create(**given)


def stored(edge: Sender, *records: dict[str, Any]) -> list[RequestRow]:
    edge.records(*records)
    count_waiting()
    return list(RequestRow.objects.order_by("id"))


def shown(client: Client, row: RequestRow) -> Any:
    return client.get(f"/products/{SLUG}/requests/{row.day}/{row.id}/")


def lanes(answer: Any) -> list[Any]:
    return [drawn.lane for drawn in answer.context["waterfall"].lanes]


def test_every_attempt_of_a_request_has_its_phases_on_the_gateways_clock(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    first = {"attempt_id": "a-1", "route": "full", "status": "failed", "start_ms": 5.0}
    second = {"attempt_id": "a-2", "route": "compact", "status": "completed", "start_ms": 60.0}
    phases = {"queue_ms": 10.0, "prefill_ms": 20.0, "decode_ms": 200.0, "validation_ms": 3.0}
    (row,) = stored(edge, record(admission_ms=4.0, attempts=[first, second | phases]))
    answer = shown(engineer, row)
    gateway, one, two = lanes(answer)
    assert [(bar.name, bar.start_ms, bar.duration_ms) for bar in two.bars] == [
        ("queue", 60.0, 10.0),
        ("prefill", 70.0, 20.0),
        ("decode", 90.0, 200.0),
        ("validation", 290.0, 3.0),
    ]
    assert gateway.bars[0].duration_ms == 4.0
    assert [one.outcome, two.outcome] == ["failed", "completed"]
    page = answer.content.decode()
    assert "<svg" in page
    assert "The table below says the same" in page
    assert "290.000" in page


def test_an_engine_without_an_anchor_starts_at_its_own_zero_and_says_so(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker
) -> None:
    (row,) = stored(edge, record())
    executed(source, "attempt-1", 7_000 * SECOND)
    engine = lanes(shown(engineer, row))[-1]
    assert engine.offset_ms is None
    assert "durations only" in engine.clock
    assert [(bar.name, bar.start_ms, bar.duration_ms) for bar in engine.bars] == [
        ("queue", 1.0, 20.0),
        ("input", 21.0, 1.0),
        ("infer", 22.0, 50.0),
        ("output", 72.0, 1.0),
    ]


def test_an_anchored_engine_is_placed_by_the_wall_time_of_its_host(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker, arrived_at: datetime
) -> None:
    (row,) = stored(edge, record())
    source.anchor_monotonic_ns = 7_000 * SECOND
    source.anchor_unix_ns = int((arrived_at + timedelta(milliseconds=30)).timestamp() * SECOND)
    source.save()
    executed(source, "attempt-1", 7_000 * SECOND)
    engine = lanes(shown(engineer, row))[-1]
    assert engine.offset_ms == pytest.approx(30.0, abs=0.01)
    assert "placed by the wall time" in engine.clock


def test_a_host_whose_wall_clock_is_elsewhere_orders_nothing_and_says_by_how_much(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker, arrived_at: datetime
) -> None:
    (row,) = stored(edge, record())
    source.anchor_monotonic_ns = 7_000 * SECOND
    source.anchor_unix_ns = int((arrived_at + timedelta(seconds=58)).timestamp() * SECOND)
    source.save()
    executed(source, "attempt-1", 7_000 * SECOND)
    engine = lanes(shown(engineer, row))[-1]
    assert engine.offset_ms is None
    assert "durations only" in engine.clock
    assert "58,000 ms after the arrival" in engine.clock


def test_what_an_execution_called_is_nested_under_it(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker
) -> None:
    (row,) = stored(edge, record())
    parent = executed(source, "attempt-1", SECOND, model="chain", composite=True)
    executed(source, "", SECOND + 5_000_000, parent_key=parent.key, model="compact")
    *_, above, below = lanes(shown(engineer, row))
    assert (above.depth, below.depth) == (2, 3)
    assert "compact" in below.title
    assert below.bars[0].start_ms == 6.0


def test_the_clients_call_stands_beside_and_the_gateways_outcome_counts(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker, arrived_at: datetime
) -> None:
    (row,) = stored(edge, record(outcome="failed"))
    executed(source, "attempt-1", SECOND)
    batch = source.product.sources.get(kind="edge").batches.get()
    ClientCall.objects.create(
        product=source.product,
        source=source,
        batch=batch,
        request_id="attempt-1",
        model="full",
        protocol="http",
        outcome="failed",
        failure="model_error",
        sent_at=arrived_at - timedelta(milliseconds=2),
        sent_steady_ns=1,
        elapsed_ms=420.0,
    )
    answer = shown(engineer, row)
    client_lane = lanes(answer)[0]
    assert (client_lane.offset_ms, client_lane.bars[0].duration_ms) == (-2.0, 420.0)
    assert b"The gateway says failed, the engine answered" in answer.content


def test_a_search_by_attempt_finds_its_request_and_one_by_segment_those_of_it(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    other = {"task": "extraction", "tenant_class": "standard"}
    stored(edge, record(), record(segment=other), record(outcome="timed_out"))

    def ids(**query: str) -> list[str]:
        page = engineer.get(f"/products/{SLUG}/requests/", query)
        return [row.request_id for row in page.context["requests"].rows]

    assert ids(attempt_id="attempt-2") == ["request-2"]
    assert ids(request_id="request-3") == ["request-3"]
    assert ids(segment="task=extraction") == ["request-2"]
    assert ids(outcome="timed_out") == ["request-3"]
    assert ids(route="full", outcome="completed", segment="task=assistant") == ["request-1"]
    assert ids(request_id="nobody") == []


def test_a_segment_without_a_value_is_explained(engineer: Client, product: Any) -> None:
    page = engineer.get(f"/products/{SLUG}/requests/", {"segment": "task"}).content
    assert b"Write a dimension and its value" in page


def test_a_hundred_requests_of_one_moment_are_paged_forward_and_back(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    stored(edge, *(record(request_id=f"r-{number:03d}") for number in range(120)))

    def opened(cursor: str) -> Any:
        return engineer.get(f"/products/{SLUG}/requests/", {"cursor": cursor}).context["requests"]

    pages = [opened("")]
    while pages[-1].next_cursor:
        pages.append(opened(pages[-1].next_cursor))
    forward = [[row.request_id for row in page.rows] for page in pages]
    assert [len(ids) for ids in forward] == [50, 50, 20]
    assert len({one for ids in forward for one in ids}) == 120
    middle = opened(pages[2].previous_cursor)
    first = opened(middle.previous_cursor)
    assert [row.request_id for row in middle.rows] == forward[1]
    assert [row.request_id for row in first.rows] == forward[0]
    assert (pages[0].previous_cursor, first.previous_cursor) == ("", "")


def test_a_request_of_another_product_or_day_is_not_there(
    engineer: Client, edge: Sender, record: RecordMaker
) -> None:
    (row,) = stored(edge, record())
    yesterday = (datetime.now(UTC) - timedelta(days=9)).date()
    for path in (f"{yesterday}/{row.id}", f"{row.day}/{row.id + 1}", f"never/{row.id}"):
        assert engineer.get(f"/products/{SLUG}/requests/{path}/").status_code == 404


def test_machines_read_one_request_with_its_evidence_and_the_disagreement(
    edge: Sender, source: Source, record: RecordMaker
) -> None:
    stored(edge, record(outcome="cancelled"))
    executed(source, "attempt-1", SECOND)
    found = edge.client.get("/api/v1/ingest/requests/request-1").json()
    assert found["request"]["outcome"] == "cancelled"
    assert found["decision"]["route"] == "full"
    assert [one["attempt_id"] for one in found["attempts"]] == ["attempt-1"]
    assert [(one["model"], one["ending"]) for one in found["engine"]] == [("full", "answered")]
    assert found["disagreement"].startswith("The gateway says cancelled, the engine answered.")
    assert edge.client.get("/api/v1/ingest/requests/nobody").status_code == 404
