"""What a candidate would have decided: each line is stored and counted once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingest.models import Batch, ShadowRow
from ingest.selectors.shadow import (
    Place,
    ShadowCounts,
    close_to,
    disagreements,
    in_places,
    places_of,
    shadow_counts,
)
from ingest.services.partitions import keep_days
from policies.models import Product
from tests.ingest.ingest_cast import Sender, count_waiting

pytestmark = pytest.mark.django_db
URL = "/api/v1/ingest/shadow"
SERVED = {"action": "admit", "reason": "requested", "route": "full", "completion_ms": 300.0}
COMPACT = {**SERVED, "action": "fallback", "reason": "fallback_preferred", "route": "compact"}
REFUSED = {"action": "reject", "reason": "budget_exhausted"}

LineMaker = Callable[..., dict[str, Any]]


@pytest.fixture
def line(product: Product, digest: str, arrived_at: datetime) -> LineMaker:
    def made(request_id: str = "r1", **more: Any) -> dict[str, Any]:
        return {
            "schema": "orchid.shadow/v1",
            "mode": "shadow",
            "request_id": request_id,
            "product": product.slug,
            "publication": 1,
            "incumbent_digest": digest,
            "candidate_digest": digest,
            "at": arrived_at.isoformat(),
            "class": "short_assistant",
            "segment": {"task": "assistant", "tenant_class": "standard"},
            "deadline_ms": 1500.0,
            "input_tokens": 100,
            "incumbent": SERVED,
            "candidate": SERVED,
        } | more

    return made


def _send(sender: Sender, *lines: dict[str, Any], batch_id: str = "") -> Batch:
    batch_id = batch_id or f"shadow-{Batch.objects.count()}"
    body = b"\n".join(json.dumps(one).encode() for one in lines)
    assert sender.post(URL, body, **{"Batch-Id": batch_id}).status_code in (200, 202)
    count_waiting()
    return Batch.objects.get(batch_id=batch_id)


def _counts(product: Product) -> ShadowCounts:
    return shadow_counts(product, 1, "shadow")


def test_decisions_are_counted_by_how_the_candidate_differs(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    batch = _send(edge, line(), line("r2", candidate=COMPACT), line("r3", candidate=REFUSED))
    assert batch.counts == {"decisions": 3, "inserted": 3, "duplicates": 0, "rejected": 0}
    assert _counts(product).by_difference == {"same": 1, "route": 1, "refuses": 1}
    assert _counts(product).near == {"budget": 1}


def test_a_line_that_comes_again_in_any_batch_changes_nothing(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    left_out = {"overload": 7, "behind": 2}
    first = line(passed_over=left_out)
    _send(edge, first, first)
    _send(edge, first, line("r2"))
    assert _counts(product).by_difference == {"same": 2}
    assert _counts(product).passed_over == left_out
    assert ShadowRow.objects.count() == 2


def test_another_attempt_or_publication_is_another_decision(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    _send(edge, line(), line(attempt=2), line(publication=2))
    assert _counts(product).by_difference == {"same": 2}
    assert shadow_counts(product, 2, "shadow").by_difference == {"same": 1}


def test_decisions_under_limits_are_counted_apart(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    _send(edge, line(), line("r2", mode="hard_limits", candidate=REFUSED))
    assert _counts(product).by_difference == {"same": 1}
    assert shadow_counts(product, 1, "hard_limits").by_difference == {"refuses": 1}


def test_disagreements_are_found_by_what_they_are_near_to_and_where(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    _send(
        edge,
        line("agrees", input_tokens=90_000),
        line("late", candidate={**COMPACT, "completion_ms": 1300.0}),
        line("long", candidate=COMPACT, input_tokens=90_000),
        line("poor", candidate=REFUSED),
    )
    rows = disagreements(product, 1, "shadow")
    assert {row.request_id for row in rows} == {"late", "long", "poor"}
    assert [row.request_id for row in close_to(rows, "deadline")] == ["late"]
    assert [row.request_id for row in close_to(rows, "long_context")] == ["long"]
    assert [row.request_id for row in close_to(rows, "budget")] == ["poor"]
    place = Place("task=assistant|tenant_class=standard", "compact")
    assert places_of(rows) == {place: 2}
    assert {row.request_id for row in in_places(rows, [place])} == {"late", "long"}
    (poor,) = close_to(rows, "budget")
    assert (poor.incumbent, poor.candidate, poor.edge) == (SERVED, REFUSED, "edge-1")


def test_a_refused_line_is_named_and_loses_no_neighbour(
    edge: Sender, product: Product, line: LineMaker
) -> None:
    future = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    batch = _send(
        edge,
        line("a", product="other"),
        line("b", candidate_digest="sha256:unknown"),
        line("c", at=future),
        line("d", prompt="what was written"),
        line("e"),
    )
    assert [(piece["line"], piece["code"]) for piece in batch.rejected] == [
        (1, "other_product"),
        (2, "unknown_digest"),
        (3, "bad_time"),
        (4, "text_not_allowed"),
    ]
    assert _counts(product).by_difference == {"same": 1}


def test_what_waits_of_shadow_holds_no_watermark_of_requests(
    edge: Sender, product: Product, record: Any, line: LineMaker
) -> None:
    from ingest.selectors import watermark

    body = json.dumps(line()).encode()
    assert edge.post(URL, body, **{"Batch-Id": "waits"}).status_code == 202
    reached = datetime.now(UTC) - timedelta(seconds=1)
    edge.records(record(), Watermark=reached.isoformat())
    from ingest import services

    services.process(Batch.objects.exclude(batch_id="waits").get().pk)
    assert watermark(product) == reached


def test_days_past_retention_are_dropped(edge: Sender, product: Product, line: LineMaker) -> None:
    old = (datetime.now(UTC) - timedelta(days=10)).isoformat()
    _send(edge, line(at=old))
    keep_days(datetime.now(UTC) + timedelta(days=400))
    assert ShadowRow.objects.count() == 0
    assert _counts(product).by_difference == {"same": 1}
