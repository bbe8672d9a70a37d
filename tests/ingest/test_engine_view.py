"""What an operator sees of engines alone: by route, bounded, and never as a success."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent
from ingest.models import EngineAttempt, EngineRoute, Source
from ingest.selectors.routes import newest_document
from orchid.engine.document.money import Price
from tests.ingest.ingest_cast import SLUG, RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer(client: Client, ana: Any, product: Any) -> Client:
    client.force_login(ana)
    return client


@pytest.fixture
def source(product: Any) -> Source:
    return Source.objects.create(product=product, kind="otlp", name="triton-otel")


def executed(source: Source, number: int, **changes: Any) -> EngineAttempt:
    return EngineAttempt.objects.create(
        **{
            "product": source.product,
            "source": source,
            "key": f"{number:032x}:{number:016x}",
            "attempt_id": f"attempt-{number}",
            "model": "full",
            "clock": "unix",
            "first_ns": 1_700_000_000_000_000_000 + number,
            "events": 4,
            "ending": "answered",
            "composite": False,
            "responses": 1,
            "request_ms": 10.0 * number,
            **changes,
        }
    )


def view(client: Client, window: str = "1h") -> Any:
    return client.get(f"/products/{SLUG}/engine/?window={window}").context


def mapped(client: Client, **fields: Any) -> Any:
    return client.post(f"/products/{SLUG}/routes/map/", {"here": "engine", **fields})


def test_an_unmapped_model_is_counted_and_one_click_gives_it_its_route(
    engineer: Client, source: Source
) -> None:
    for number in range(1, 11):
        executed(source, number)
    page = engineer.get(f"/products/{SLUG}/sources/").content.decode()
    assert "<strong>10</strong> executions of <code>full</code>, not mapped" in page
    assert "Map to full" in page
    assert mapped(engineer, model="full", route="full").status_code == 302
    (route,) = view(engineer)["view"].routes
    assert (route.route, route.executions) == ("full", 10)
    assert (route.request.p50, route.request.p95, route.request.p99) == (50, 100, 100)
    assert view(engineer)["unmapped"] == []
    assert AuditEvent.objects.filter(action="engine_route.mapped").count() == 1


def test_the_same_mapping_twice_is_one_act(engineer: Client, source: Source) -> None:
    answers = [mapped(engineer, model="full", route="full").status_code for _ in range(2)]
    assert answers == [302, 302]
    assert AuditEvent.objects.filter(action="engine_route.mapped").count() == 1


def test_percentiles_are_by_nearest_rank_over_what_has_the_phase(
    engineer: Client, source: Source
) -> None:
    mapped(engineer, model="full", route="full")
    for number, request_ms in enumerate((1.0, 2.0, None)):
        executed(source, number, request_ms=request_ms)
    (route,) = view(engineer)["view"].routes
    assert (route.executions, route.request.p50, route.request.p95) == (3, 1.0, 2.0)
    assert route.queue.p95 is None


def test_one_sources_own_mapping_goes_before_that_of_every_source(
    engineer: Client, source: Source
) -> None:
    other = Source.objects.create(product=source.product, kind="otlp", name="other")
    executed(source, 1)
    executed(other, 2)
    mapped(engineer, model="full", route="full")
    mapped(engineer, model="full", route="compact", source=other.pk)
    assert {one.route: one.executions for one in view(engineer)["view"].routes} == {
        "full": 1,
        "compact": 1,
    }


def test_a_child_is_part_of_its_parents_request(engineer: Client, source: Source) -> None:
    parent = executed(source, 1, model="chain", composite=True)
    executed(source, 2, parent_key=parent.key)
    mapped(engineer, model="chain", route="full")
    shown = view(engineer)["view"]
    assert [one.executions for one in shown.routes] == [1]
    assert shown.inner == {"full": 1}


def test_what_arrived_before_the_window_is_not_in_it(engineer: Client, source: Source) -> None:
    mapped(engineer, model="full", route="full")
    executed(source, 1, received_at=datetime.now(UTC) - timedelta(minutes=20))
    assert view(engineer, "5m")["view"].executions == 0
    assert view(engineer, "1h")["view"].executions == 1


def test_a_view_reads_no_more_than_its_bound_and_says_so(
    engineer: Client, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.selectors.engine_sql.MOST", 5)
    mapped(engineer, model="full", route="full")
    for number in range(1, 9):
        executed(source, number)
    shown = view(engineer)["view"]
    assert (shown.executions, shown.capped) == (5, True)


def test_a_route_that_no_document_has_is_refused_by_name(engineer: Client, source: Source) -> None:
    answer = mapped(engineer, model="full", route="nowhere")
    assert answer.status_code == 422
    assert b"has no route nowhere" in answer.content
    assert not EngineRoute.objects.exists()


def test_a_stale_page_changes_no_mapping_and_says_what_to_do(
    engineer: Client, source: Source
) -> None:
    mapped(engineer, model="full", route="full")
    assert mapped(engineer, model="full", route="compact", version=1).status_code == 302
    stale = mapped(engineer, model="full", route="full", version=1)
    assert stale.status_code == 409
    assert b"stands for compact since somebody changed it" in stale.content
    row = EngineRoute.objects.get()
    unmap = f"/products/{SLUG}/routes/{row.pk}/unmap/"
    assert engineer.post(unmap, {"version": 1}).status_code == 409
    assert engineer.post(unmap, {"version": 2}).status_code == 302
    assert not EngineRoute.objects.exists()


def test_a_model_mapped_twice_at_once_is_mapped_once(engineer: Client, source: Source) -> None:
    assert mapped(engineer, model="full", route="full").status_code == 302
    assert mapped(engineer, model="full", route="full").status_code == 302
    other = mapped(engineer, model="full", route="compact")
    assert other.status_code == 409
    assert EngineRoute.objects.get().route == "full"


def test_without_a_gateway_the_gates_have_no_data_and_the_next_step_is_named(
    engineer: Client, source: Source
) -> None:
    executed(source, 1)
    for path in ("engine/", "sources/", "gates/"):
        page = engineer.get(f"/products/{SLUG}/{path}").content.decode()
        assert "no data: no gateway population" in page.lower()
        assert "orchid edge run" in page
    told = engineer.get(f"/api/v1/check?product={SLUG}").json()
    assert told["verdict"] == "no_data"
    assert "no gateway population" in told["reasons"][0]


def test_the_gateways_population_is_the_denominator_and_the_difference_is_shown(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker
) -> None:
    now = datetime.now(UTC).isoformat()
    answered = [record(arrived_at=now) for _ in range(90)]
    left = [record(arrived_at=now, outcome="cancelled", completion_ms=None) for _ in range(10)]
    edge.records(*answered, *left)
    count_waiting()
    for number in range(1, 91):
        executed(source, number, system="vllm")
    (route,) = view(engineer)["compared"].routes
    assert (route.requests, route.answered, route.share) == (100, 90, 0.9)
    assert (route.executions, route.engine_answered, route.engine_share) == (90, 90, 1.0)
    (difference,) = route.differences
    assert (difference.outcome, difference.requests, difference.engine) == (
        "cancelled",
        10,
        "nothing",
    )
    page = engineer.get(f"/products/{SLUG}/engine/").content.decode()
    assert "100.00 %, not used" in page


VLLM = """# TYPE vllm:request_success_total counter
vllm:request_success_total{{finished_reason="stop",model_name="full"}} {stop}
vllm:request_success_total{{finished_reason="abort",model_name="full"}} 0
"""


def test_an_engine_that_counts_no_abort_is_shown_beside_the_clients_that_left(
    engineer: Client, edge: Sender, ci: Sender, record: RecordMaker
) -> None:
    now = datetime.now(UTC).isoformat()
    left = {"outcome": "cancelled", "completion_ms": None}
    edge.records(*(record(arrived_at=now, **(left if n < 10 else {})) for n in range(100)))
    for number, stop in enumerate((0, 90)):
        body = VLLM.format(stop=stop).encode()
        path = "/api/v1/ingest/files?kind=metrics&source=vllm"
        ci.post(path, body, media="text/plain", **{"Batch-Id": f"m{number}"})
    count_waiting()
    page = engineer.get(f"/products/{SLUG}/engine/")
    (counted,) = page.context["counters"]
    assert (counted.ended["stop"], counted.ended["abort"]) == (90, 0)
    assert b"stop 90, abort 0" in page.content
    (route,) = page.context["compared"].routes
    assert (route.requests, route.answered) == (100, 90)
    told = ci.client.get("/api/v1/ingest/engine-view").json()
    assert told["engine_counters"][0]["ended"] == {"stop": 90, "abort": 0}
    assert told["against_gateway"][0]["share"] == 0.9


def test_an_answer_that_the_caller_never_got_is_a_difference_with_its_reason(
    engineer: Client, edge: Sender, source: Source, record: RecordMaker
) -> None:
    edge.records(record(arrived_at=datetime.now(UTC).isoformat(), outcome="failed"))
    count_waiting()
    executed(source, 1)
    executed(source, 2, attempt_id="nobodys")
    found = view(engineer)["compared"]
    ((_, difference),) = found.differences
    assert difference.engine == "answered"
    assert "counts an error" in difference.reason
    assert found.unclaimed == 1


def priced(monkeypatch: pytest.MonkeyPatch, product: Any, **prices: dict[str, str]) -> None:
    """The newest document charges these prices."""
    document = newest_document(product)
    assert document is not None
    told = document.model_copy(update={"prices": {k: Price(**v) for k, v in prices.items()}})
    monkeypatch.setattr("ingest.selectors.engine_view.newest_document", lambda _: told)


def test_cost_is_by_the_documents_prices_in_either_convention(
    engineer: Client, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai = {
        "input_usd_per_million": "2.50",
        "cached_input_usd_per_million": "1.25",
        "output_usd_per_million": "10",
    }
    anthropic = {
        "input_usd_per_million": "3",
        "cache_write_usd_per_million": "3.75",
        "output_usd_per_million": "15",
    }
    priced(monkeypatch, source.product, full=openai, compact=anthropic)
    mapped(engineer, model="full", route="full")
    tokens = {"input_tokens": 2006, "cached_input_tokens": 1920, "output_tokens": 300}
    executed(source, 1, input_convention="includes_cached", **tokens)
    executed(source, 2)
    tokens = {"input_tokens": 3, "cache_write_tokens": 12_304, "output_tokens": 550}
    executed(source, 3, model="compact", input_convention="excludes_cached", **tokens)
    mapped(engineer, model="compact", route="compact")
    costs = {one.route: one.cost for one in view(engineer)["view"].routes}
    assert (costs["full"].usd, costs["full"].priced, costs["full"].unknown) == (
        Decimal("0.005615"),
        1,
        1,
    )
    assert costs["compact"].usd == Decimal("0.054399")


def test_the_price_of_a_long_prompt_is_chosen_by_each_prompt_and_not_by_their_sum(
    engineer: Client, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = {"above_tokens": 1000, "input_usd_per_million": "4", "output_usd_per_million": "8"}
    price = {"input_usd_per_million": "2", "output_usd_per_million": "4", "long_prompt": dear}
    priced(monkeypatch, source.product, full=price)  # type: ignore[arg-type]
    mapped(engineer, model="full", route="full")
    for number in range(4):
        executed(source, number, input_tokens=1000, output_tokens=0)
    executed(source, 9, input_tokens=1001, output_tokens=0)
    (route,) = view(engineer)["view"].routes
    assert route.cost.usd == Decimal("0.008") + Decimal("0.004004")


def test_a_fleets_hours_over_executions_are_an_estimate_and_say_so(
    engineer: Client, source: Source
) -> None:
    mapped(engineer, model="full", route="full")
    for number in range(10):
        executed(source, number, received_at=datetime.now(UTC) - timedelta(minutes=30))
    shown = engineer.get(f"/products/{SLUG}/engine/?window=1h")
    fleet = shown.context["view"].fleet
    assert float(fleet.usd_per_execution) == pytest.approx(
        float(fleet.usd_per_h) * 0.5 / 10, rel=0.01
    )
    assert b"an estimate" in shown.content


def test_machines_map_a_model_and_read_the_view_with_the_gates_state(
    ci: Sender, otel: Sender, source: Source
) -> None:
    executed(source, 1)
    told = otel.client.get("/api/v1/ingest/routes").json()
    assert told["unmapped"] == [{"model": "full", "executions": 1, "suggestion": "full"}]
    json, routes = "application/json", "/api/v1/ingest/routes"
    made = ci.client.post(routes, {"model": "full", "route": "full"}, json)
    assert made.status_code == 200
    stale = {"model": "full", "route": "compact", "expected_version": 7}
    assert ci.client.post(routes, stale, json).json()["code"] == "mapping_changed"
    seen = ci.client.get("/api/v1/ingest/engine-view?window=5m").json()
    assert [(one["route"], one["executions"]) for one in seen["routes"]] == [("full", 1)]
    assert seen["gates"]["reason"] == "no data: no gateway population"
    assert seen["routes"][0]["cost_usd"] is None
    gone = f"/api/v1/ingest/routes/{made.json()['id']}/unmap"
    assert ci.client.post(gone, {"expected_version": 1}, json).status_code == 204
    assert ci.client.get("/api/v1/ingest/engine-view?window=9y").json()["code"] == "unknown_window"
