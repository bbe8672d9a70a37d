"""What a proposal would trade against the live generation, and where each point stands."""

import itertools
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command

from accounts.guard import SYSTEM_ACTOR
from gates.charts import frontier_plot
from gates.charts.frontier_table import trades_table, trials_table
from gates.models import DeclaredPoint
from gates.selectors import Trade, bounds_now, figures, frontier, predicted
from gates.selectors.frontier import frontier_of
from gates.selectors.measured_points import measured as measured_points
from gates.services import open_window, push_evidence
from ingest import services as inbox
from ingest.models import Batch
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.frontier import Point, beaten
from orchid.engine.measured_point import borne_share
from policies.models import Revision
from policies.selectors import document_of
from policies.services import create_product, draft_generation
from tests.gates.gates_cast import EXAMPLES, Judged, api, given, machine, someone

pytestmark = pytest.mark.django_db


def recorded(judged: Judged, requests: int, every_ms: int = 20) -> None:
    """Real records through the inbox, spread over the minute before now, a third for each risk."""
    start = judged.now - timedelta(minutes=1)
    risks = itertools.cycle("abc")
    lines = [
        record(judged, n, start + timedelta(milliseconds=n * every_ms), next(risks))
        for n in range(requests)
    ]
    body = "\n".join(json.dumps(line) for line in lines).encode()
    answer = machine("edge").post(
        "/api/v1/ingest/requests",
        body,
        content_type="application/x-ndjson",
        headers={"Batch-Id": "batch-1"},
    )
    assert answer.status_code == 202
    inbox.process(Batch.objects.get().pk)
    judged.count_up_to(judged.now)


def record(judged: Judged, number: int, arrived_at: Any, risk: str) -> dict[str, Any]:
    attempt = {"attempt_id": f"a{number}", "route": "full", "manifest": judged.manifest}
    return {
        "request_id": f"r{number}",
        "product": judged.product.slug,
        "publication": 1,
        "digest": judged.digest,
        "class": "short_assistant",
        "segment": {"task": "assistant", "tenant_class": "standard", "risk": risk},
        "arrived_at": arrived_at.isoformat(),
        "completion_ms": 700.0,
        "input_tokens": 1000,
        "output_tokens": 200,
        "decision": {"action": "admit", "route": "full"},
        "outcome": "completed",
        "policy_valid": True,
        "schema_valid": True,
        "attempts": [attempt],
    }


def cheaper(judged: Judged) -> Revision:
    """A generation that sends standard tenants to compact on half the dollars."""
    document = given()
    document["fallback"] = [
        {"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}
    ]
    document["fleet"] |= {"device_usd_per_h": "2.40", "overhead_usd_per_h": "0.90"}
    return draft_generation(SYSTEM_ACTOR, judged.product, document, "Compact for standard")


def compact_evidence(judged: Judged, digest: str, **changes: Any) -> None:
    manifest = manifest_digest(document_of(digest).models["compact"])
    cell = judged.cell(route="compact", manifest=manifest, mean=0.905, **changes)
    push_evidence(SYSTEM_ACTOR, judged.product, cell)


def by_metric(trade: Trade) -> dict[str, Any]:
    return {row.metric: row for row in trade.figures}


@pytest.fixture
def measured(judged: Judged) -> Judged:
    recorded(judged, 600)
    judged.judge()
    return judged


def test_a_prediction_says_what_it_is_and_what_it_rests_on(measured: Judged) -> None:
    revision = cheaper(measured)
    compact_evidence(measured, revision.digest)
    trade = predicted(measured.product, revision, measured.window)
    rows = by_metric(trade)
    assert {row.kind for row in rows.values()} == {"predicted"}
    assert (rows["utility"].before, rows["utility"].after) == ("0.93", "0.905")
    assert rows["utility"].change == "-0.025"
    assert rows["completion_p95_ms"].before == "700"
    assert "600 recorded requests" in rows["completion_p95_ms"].how
    base, after = rows["cost_per_success_usd"].before, rows["cost_per_success_usd"].after
    assert Decimal(after or 0) < Decimal(base or 0)
    assert trade.base is not None
    assert (trade.base["publication"], trade.base["requests"]) == (1, 600)


def test_the_predicted_cost_is_the_new_ledger_over_the_old_rate(measured: Judged) -> None:
    revision = cheaper(measured)
    devices = document_of(revision.digest).fleet.devices
    ledger = devices * Decimal("2.40") + Decimal("0.90")
    row = by_metric(predicted(measured.product, revision, measured.window))["cost_per_success_usd"]
    assert row.after is not None
    assert Decimal(row.after) == round(ledger / 60 / 600, 10).normalize()


def test_each_segment_stands_against_its_floor(measured: Judged) -> None:
    revision = cheaper(measured)
    compact_evidence(measured, revision.digest, where={"risk": ["a", "b"]})
    segments = predicted(measured.product, revision, measured.window).segments
    assert [(s.name, s.n, s.clears) for s in segments] == [
        ("A", 200, True),
        ("B", 200, True),
        ("C", 200, None),
    ]


def test_without_evidence_no_utility_is_predicted(measured: Judged) -> None:
    trade = predicted(measured.product, cheaper(measured), measured.window)
    assert by_metric(trade)["utility"].after is None


def test_what_ran_is_measured_and_no_longer_predicted(measured: Judged) -> None:
    revision = measured.product.generations.get(number=1).revisions.get()
    trade = predicted(measured.product, revision, measured.window)
    assert {row.kind for row in trade.figures} == {"measured"}
    assert by_metric(trade)["completion_p95_ms"].change == "0"


def test_before_anything_is_live_there_is_no_baseline(judged: Judged) -> None:
    trade = predicted(judged.product, cheaper(judged), None)
    assert trade.base is None
    assert all(row.before is None and row.after is None for row in trade.figures)
    assert trade.notes == ["There is no measured live generation to compare with."]


def test_equal_trades_are_equal_data(measured: Judged) -> None:
    revision = cheaper(measured)
    one = predicted(measured.product, revision, measured.window).as_json()
    two = predicted(measured.product, revision, measured.window).as_json()
    assert json.dumps(one) == json.dumps(two)


def test_a_generation_that_only_idled_has_no_figures(judged: Judged) -> None:
    judged.judge()
    assert figures(judged.product, judged.digest) is None
    assert frontier(judged.product) == []


def test_the_newest_window_with_traffic_speaks_for_a_generation(measured: Judged) -> None:
    empty = open_window(measured.product, measured.digest, 2, "incumbent", measured.now, 1.0)
    measured.judge(window=empty)
    found = figures(measured.product, measured.digest)
    assert found is not None
    assert found.measured_on["publication"] == 1


def test_measured_predicted_and_declared_points_are_told_apart(measured: Judged) -> None:
    revision = cheaper(measured)
    compact_evidence(measured, revision.digest)
    DeclaredPoint.objects.create(
        product=measured.product, name="old", utility=0.8, p95_ms=9000, cost_per_success_usd=1
    )
    trade = predicted(measured.product, revision, measured.window)
    points = {p.point.kind: p for p in frontier(measured.product, trade.as_json())}
    assert set(points) == {"measured", "predicted", "declared"}
    assert [points[kind].dominated for kind in ("measured", "predicted", "declared")] == [
        False,
        False,
        True,
    ]


def test_the_reference_products_points_are_declared_and_loaded_once(db: None) -> None:
    folder = EXAMPLES.parent / "orchid-serve"
    document = (folder / "generation-1.yaml").read_bytes()
    product = create_product(SYSTEM_ACTOR, "orchid-serve", "Reference", document=document)
    for _ in range(2):
        call_command("load_declared_points", "orchid-serve", folder / "declared-points.yaml")
    points = {p.point.name: p for p in frontier(product)}
    assert (DeclaredPoint.objects.count(), len(points)) == (11, 7)
    selected = points["continuous, deadline-aware"]
    assert selected.is_selected
    assert (selected.point.utility, selected.point.p95_ms) == (0.902, 1310)
    assert selected.point.cost_per_success_usd == Decimal("0.00015113")
    assert selected.point.success_per_s == Decimal("319.8")
    assert points["static batch 8"].dominated
    assert points["static batch 8"].outcome == "fails p95, cost and attainment"
    assert not selected.dominated
    assert not points["batch 16 experiment"].dominated
    plot = frontier_plot(list(points.values()), bounds_now(product))
    assert "batch 16 experiment" not in plot.figure_json
    assert len(plot.table.rows) == 7
    misses = {str(row[0]): row[7] for row in plot.table.rows}
    assert misses["continuous, deadline-aware (selected)"] == "nothing"
    assert misses["static batch 8"] == "Completion p95, Cost per success, Attainment"
    assert misses["dynamic batch 8"] == "Cost per success"
    assert misses["batch 16 experiment"] == "Completion p95"
    assert misses["premium only"] == "Cost per success"
    assert misses["full only"] == "Completion p95, Cost per success"
    assert misses["aggressive fallback"] == "Utility index"
    drawn = json.loads(plot.figure_json)
    names = [trace["name"] for trace in drawn["data"]]
    assert names == ["declared, dominated", "declared", "declared, selected"]
    said = [note["text"] for note in drawn["layout"]["annotations"]]
    assert said == ["Cost per success ≤ $0.00016", "Utility index ≥ 0.895"]


@pytest.fixture
def reference(db: None) -> Any:
    folder = EXAMPLES.parent / "orchid-serve"
    document = (folder / "generation-1.yaml").read_bytes()
    product = create_product(SYSTEM_ACTOR, "orchid-serve", "Reference", document=document)
    call_command("load_declared_points", "orchid-serve", folder / "declared-points.yaml")
    return product


def test_each_trade_has_one_named_baseline(reference: Any) -> None:
    table = trades_table(frontier(reference))
    assert table is not None
    assert table.caption == "continuous, deadline-aware against each other point"
    utility = {row[0]: row[1] for row in table.rows}
    assert utility["full only"] == "−0.0120"
    assert utility["dynamic batch 8"] == "−0.0100"
    assert utility["batch 16 experiment"] == "unknown"


def test_a_trial_under_stress_is_a_point_of_that_stress_alone(reference: Any) -> None:
    whole, spike = frontier_of(reference), frontier_of(reference, load="1.4x spike")
    trials = ["1.4x spike", "candidate rollout", "loss of a group", "long-request domination"]
    assert [one.point.name for one in whole.trials] == trials
    assert not set(trials) & {one.point.name for one in whole.points}
    assert [one.point.name for one in spike.points] == ["1.4x spike"]
    table = trials_table(whole.trials, whole.bounds)
    assert [row[5] for row in table.rows] == ["nothing"] * 4
    assert table.rows[0][1:5] == ["0.8970", "1,440 ms", "$0.00015800", "96.80 %"]
    assert table.rows[2][6] == "Utility index: 0.1 %"


def test_a_measured_point_has_intervals_that_hold_its_figures(measured: Judged) -> None:
    (one,) = frontier(measured.product)
    point = one.point
    for value, ends in (
        (point.utility, point.utility_interval),
        (point.p95_ms, point.p95_interval_ms),
        (point.attainment, point.attainment_interval),
    ):
        assert value is not None
        assert ends is not None
        assert ends[0] <= value <= ends[1]
    assert point.utility_interval is not None
    assert 0 < point.utility_interval[1] - point.utility_interval[0] < 0.05
    assert point.attainment_interval == pytest.approx((0.9939, 1.0), abs=1e-4)


def test_a_segment_has_its_own_floor_and_nothing_that_speaks_for_the_whole(
    measured: Judged,
) -> None:
    DeclaredPoint.objects.create(product=measured.product, name="old", utility=0.8, p95_ms=9000)
    found = frontier_of(measured.product, segment="risk=b")
    assert [one.point.name for one in found.points] == ["Generation 1"]
    assert "cost_per_success_usd" not in found.bounds
    whole = frontier_of(measured.product)
    assert {one.point.name for one in whole.points} == {"Generation 1", "old"}
    assert [choice.label for choice in whole.segments] == ["The whole", "A", "B", "C"]


def test_the_segments_bear_the_ledger_of_the_whole_between_them(measured: Judged) -> None:
    (window,) = measured_points(measured.product)
    shares = [borne_share(window.seen.cost, {"risk": risk}) for risk in "abc"]
    assert float(sum(shares)) == pytest.approx(1)
    costs = [frontier_of(measured.product, segment=f"risk={risk}").points[0] for risk in "abc"]
    whole = frontier(measured.product)[0].point.cost_per_success_usd
    assert whole is not None
    mean = sum(one.point.cost_per_success_usd or 0 for one in costs) / 3
    assert float(mean) == pytest.approx(float(whole))


def test_load_states_are_told_apart_where_the_traffic_tells_them(judged: Judged) -> None:
    for state, ms in (("normal", 400.0), ("shedding", 1400.0)):
        judged.traffic(300, ms=ms, load_state=state)
    judged.judge()
    found = frontier_of(judged.product)
    assert [choice.key for choice in found.loads] == ["", "normal", "shedding"]
    for state, ms in (("normal", 400.0), ("shedding", 1400.0)):
        (one,) = frontier_of(judged.product, load=state).points
        assert one.point.p95_ms == ms


def test_domination_within_the_intervals_is_said_to_be_unsure() -> None:
    ours = Point("ours", 0.91, 1200.0, Decimal("0.00015"), "measured", utility_interval=(0.9, 0.92))
    theirs = Point("theirs", 0.905, 1300.0, Decimal("0.00016"), "measured")
    sure = Point("sure", 0.89, 1300.0, Decimal("0.00016"), "measured")
    lost = beaten([ours, theirs, sure])
    assert (lost["theirs"].by, lost["theirs"].surely) == (("ours",), False)
    assert lost["sure"].surely
    assert set(lost) == {"theirs", "sure"}


def test_the_frontier_is_told_to_machines(measured: Judged) -> None:
    answer = machine().get(api("frontier"))
    assert answer.status_code == 200
    body = answer.json()
    (point,) = body["points"]
    assert (point["kind"], point["dominated_by"]) == ("measured", [])
    assert point["misses"] == ["cost_per_success_usd"]
    assert point["utility_interval"][0] < point["utility"] < point["utility_interval"][1]
    assert body["segments"] == ["", "risk=a", "risk=b", "risk=c"]


def test_the_page_offers_segments_by_plain_links(measured: Judged) -> None:
    page = someone("ben", "product_owner").get("/products/orchid-demo/frontier/?segment=risk%3Da")
    assert page.status_code == 200
    assert 'href="?segment=risk%3Db&amp;load="' in page.content.decode()
    assert "No gate bounds what a segment costs" in page.content.decode()
