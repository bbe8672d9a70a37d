"""Known cases, as machines and people are told of them."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from gates.models import Evaluation, Window
from gates.services import open_window
from ingest.models import ExposedUnit, FollowedSplit, RollupDelta, Source
from orchid.engine.document.parse import parse
from orchid.engine.verdict.combine import combine
from tests.gates.gates_cast import (
    EXAMPLES,
    SLUG,
    STEP,
    Judged,
    api,
    costing,
    given,
    machine,
    posted,
    someone,
)

pytestmark = pytest.mark.django_db


def told(client: Client | None = None) -> dict[str, Any]:
    """What a machine is told of the latest judgement."""
    answer: dict[str, Any] = (client or machine()).get(api("verdicts"), {"publication": 1}).json()
    return answer


def row_of(answer: dict[str, Any], metric: str, segment: str = "") -> dict[str, Any]:
    (found,) = [
        row for row in answer["verdicts"] if (row["metric"], row["segment"]) == (metric, segment)
    ]
    return dict(found)


def pages(evaluation: Evaluation) -> str:
    """The gates now and the judgement itself, as a product owner sees them."""
    client = someone("ben", "product_owner")
    addresses = ("gates/", f"gates/evaluations/{evaluation.pk}/")
    return "".join(client.get(f"/products/{SLUG}/{one}").content.decode() for one in addresses)


def canary(candidate: int, incumbent: int) -> Judged:
    """A canary of 5 % whose hold is over."""
    judged = Judged(exposure=0.05, cohort="candidate")
    judged.traffic(candidate, cohort="candidate")
    judged.traffic(incumbent)
    open_window(judged.product, judged.digest, 1, "incumbent", judged.opens_at - STEP, 0.95)
    Window.objects.filter(pk=judged.window.pk).update(hold_until=judged.opens_at + STEP)
    return judged


# Case 1
def test_a_silent_segment_is_named_with_its_count_and_no_timer_promotes() -> None:
    judged = Judged(exposure=0.05, cohort="candidate")
    for segment in "ab":
        judged.traffic(5_000, segment=segment, cohort="candidate")
    judged.traffic(190_000)
    open_window(judged.product, judged.digest, 1, "incumbent", judged.opens_at - STEP, 0.95)
    Window.objects.filter(pk=judged.window.pk).update(hold_until=judged.opens_at + STEP)
    evaluation = judged.judge()
    answer = told()
    assert (answer["verdict"], evaluation.action) == ("inconclusive", "hold")
    assert any("segment C" in said and "0 of 200" in said for said in answer["reasons"])
    assert row_of(answer, "attainment", "C")["verdict"] == "no_data"
    text = pages(evaluation)
    assert "0 of 200" in text
    assert "segment C" in text


# Case 1
def test_a_group_of_gates_that_are_all_empty_passes_nothing(judged: Judged) -> None:
    evaluation = judged.judge()
    assert (evaluation.verdict, evaluation.action) == ("no_data", "hold")
    assert combine((), 0.01).verdict == "no_data"
    assert "No data" in pages(evaluation)


# Case 2
@pytest.mark.parametrize(
    ("usd", "good", "verdict", "value"),
    [
        ("0.80", 0, "fail", None),
        ("0.80", 5_000, "pass", "0.00016"),
        ("0.800001", 5_000, "fail", "0.0001600002"),
    ],
)
def test_cost_is_exact_at_its_bound_and_no_page_rounds_it_onto_it(
    usd: str, good: int, verdict: str, value: str | None
) -> None:
    judged = Judged(costing(usd))
    judged.traffic(5_000, good=good)
    evaluation = judged.judge()
    row = row_of(told(), "cost_per_success_usd")
    assert (row["verdict"], row["value"]) == (verdict, value)
    text = pages(evaluation).replace("&gt;", ">")
    assert "NaN" not in text
    assert "0.00016 > $0.00016" not in text.replace("$0.00016 ", "0.00016 ")
    if value == "0.0001600002":
        assert "0.0001600002" in text


# Case 2
def test_no_requests_and_no_money_are_no_data() -> None:
    judged = Judged(costing("0"))
    evaluation = judged.judge()
    row = row_of(told(), "cost_per_success_usd")
    assert (row["verdict"], row["value"]) == ("no_data", None)
    assert "No data" in pages(evaluation)


# Case 3
@pytest.mark.parametrize("batches", [1, 2, 7])
def test_a_tail_from_parts_is_pooled_however_it_is_batched(batches: int) -> None:
    judged = Judged()
    for minute in range(-10, 0):
        for batch in range(batches):
            fast = 180 // batches + (180 % batches > batch)
            slow = 20 // batches + (20 % batches > batch)
            judged.traffic(fast, ms=1_200, minute=minute)
            judged.traffic(slow, ms=4_000, minute=minute)
    evaluation = judged.judge()
    row = row_of(told(), "completion_p95_ms")
    assert (row["verdict"], row["value"], row["n"]) == ("fail", "4000", 2_000)
    assert "4,000 ms" in pages(evaluation)


# Case 5
def test_a_split_that_is_off_is_no_result_and_the_page_says_which_count() -> None:
    judged = canary(1_700, 38_300)
    evaluation = judged.judge()
    answer = told()
    assert (answer["verdict"], evaluation.action) == ("inconclusive", "hold")
    assert not answer["validity"]["attribution"]
    said = "1,700 of 40,000 in the canary where about 2,000 are due"
    assert said in answer["reasons"][0]
    assert said in pages(evaluation)


# Case 5
def test_the_split_is_counted_in_sessions_where_records_tell_them() -> None:
    """By requests the canary has its part; by sessions it has too few of them."""
    judged = canary(2_000, 38_000)
    FollowedSplit.objects.update(unit="session")
    split = FollowedSplit.objects.get(product=judged.product, publication=1)
    cohorts = [1] * 170 + [2] * 3_830
    ExposedUnit.objects.bulk_create(
        ExposedUnit(split_id=split.pk, unit=place, stratum="", cohorts=bits)
        for place, bits in enumerate(cohorts)
    )
    evaluation = judged.judge()
    said = "sessions: 170 of 4,000 in the canary where about 200 are due"
    checks = {one["name"]: one for one in evaluation.validity["checks"]}
    assert said in checks["split"]["message"]
    ExposedUnit.objects.filter(unit__lt=3).update(cohorts=3)
    evaluation = judged.judge()
    assert evaluation.validity["state"] == "broken"
    assert "3 of 4,000 sessions in both cohorts" in pages(evaluation)


def test_a_clock_that_is_off_holds_everything_and_names_the_edge(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert judged.judge().verdict == "pass"
    Source.objects.filter(name="edge-1").update(
        clock_skew_ms=-61_000.0, clock_off_at=judged.now - STEP
    )
    evaluation = judged.judge()
    assert (evaluation.verdict, evaluation.action) == ("inconclusive", "hold")
    assert "the clock of edge-1 is 61.0 s behind" in pages(evaluation)


# Case 29
def test_traffic_that_stops_half_way_holds_and_then_is_no_data() -> None:
    judged = Judged(cohort="candidate")
    for segment in "abc":
        for minute, requests in ((-10, 20_000), (-9, 15_000)):
            judged.traffic(requests, minute=minute, segment=segment, cohort="candidate")
    Window.objects.filter(pk=judged.window.pk).update(hold_until=judged.opens_at + STEP)
    evaluation = judged.judge()
    client = machine()
    answer = told(client)
    assert (answer["verdict"], evaluation.action) == ("inconclusive", "hold")
    assert not [row for row in answer["verdicts"] if row["verdict"] == "pass"]
    assert "no eligible request since" in pages(evaluation)
    later = judged.now + timedelta(minutes=20)
    judged.count_up_to(later)
    evaluation = judged.judge(later)
    answer = told(client)
    assert (answer["verdict"], evaluation.action) == ("no_data", "hold")
    assert {(row["verdict"], row["value"]) for row in answer["verdicts"]} == {("no_data", None)}


# Case 30
def test_a_gate_on_an_unknown_metric_and_a_contract_without_gates_are_refused(
    judged: Judged,
) -> None:
    client = machine()
    for document in (given(happiness={"min": 0.9, "window": "1h"}), without_gates()):
        answer = posted(client, "generations", {"title": "Next", "document": document})
        assert answer.status_code in (400, 422)
        assert "/gates" in answer.content.decode()


def without_gates() -> dict[str, Any]:
    document: dict[str, Any] = parse((EXAMPLES / "generation-1.yaml").read_bytes(), "yaml")
    document["gates"] = {}
    return document


# Case 31
@pytest.mark.parametrize(("values", "p95"), [((1.0, 2.0), "2"), ((1.0,), "1")])
def test_small_samples_have_a_p95_that_was_seen_and_no_verdict(
    judged: Judged, values: tuple[float, ...], p95: str
) -> None:
    for ms in values:
        judged.traffic(1, ms=ms)
    evaluation = judged.judge()
    row = row_of(told(), "completion_p95_ms")
    assert (row["verdict"], row["value"], row["n"]) == ("inconclusive", p95, len(values))
    assert f"{len(values)} of 200" in row["message"]
    assert f"{len(values)} of 200" in pages(evaluation)


# Case 32
def test_percentiles_of_two_edges_are_of_the_pooled_requests(judged: Judged) -> None:
    judged.traffic(1_000, ms=10)
    judged.traffic(10, ms=2_000)
    evaluation = judged.judge()
    row = row_of(told(), "completion_p95_ms")
    assert row["value"] == "10"
    assert "1,005" not in pages(evaluation)


def test_a_judgement_that_holds_again_is_told_again(judged: Judged) -> None:
    """A delivery that waits holds a pass; counted, what was judged before holds, told anew."""
    judged.everywhere(20_000)
    first = judged.judge()
    judged.batch(watermark=judged.now - 5 * STEP)
    waiting = judged.batch(status="received", received_at=judged.now)
    assert judged.judge().verdict == "inconclusive"
    client = machine()
    assert told(client)["verdict"] == "inconclusive"
    waiting.delete()
    again = judged.judge()
    assert (again.inputs_digest, again.outcome_digest) == (
        first.inputs_digest,
        first.outcome_digest,
    )
    assert again.pk > first.pk
    answer = told(client)
    assert (answer["id"], answer["verdict"]) == (again.pk, "pass")


def test_what_was_merged_is_judged_as_before(judged: Judged) -> None:
    from ingest.services.compaction import compact

    judged.everywhere(20_000, minute=-3)
    judged.everywhere(20_000, minute=-2)
    first = judged.judge()
    compact(judged.now + timedelta(hours=1))
    assert not RollupDelta.objects.exists()
    assert judged.judge().pk == first.pk
