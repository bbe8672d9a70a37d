"""The gates over what was counted: verdicts, and what never passes."""

from datetime import timedelta

import pytest

from gates.models import Window
from gates.services import close_window, open_window
from ingest.models import Source
from tests.gates.gates_cast import STEP, Judged, costing, given

pytestmark = pytest.mark.django_db


def test_good_traffic_everywhere_passes_every_gate(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    assert (evaluation.verdict, evaluation.reasons) == ("pass", [])
    assert evaluation.verdicts.count() == 5 + 3 * 4


def test_a_silent_segment_holds_and_is_named_with_its_count() -> None:
    judged = Judged(exposure=0.05, cohort="candidate")
    for segment in "ab":
        judged.traffic(5_000, segment=segment, cohort="candidate")
    judged.traffic(190_000)
    open_window(judged.product, judged.digest, 1, "incumbent", judged.opens_at, 0.95)
    evaluation = judged.judge()
    assert evaluation.verdict == "inconclusive"
    assert any("segment C" in reason and "0 of 200" in reason for reason in evaluation.reasons)
    assert judged.verdict(evaluation, "attainment", "C").verdict == "no_data"
    assert judged.verdict(evaluation, "attainment", "A").verdict == "pass"


@pytest.mark.parametrize(
    ("usd", "good", "verdict", "value"),
    [
        ("0.80", 0, "fail", None),
        ("0.80", 5_000, "pass", "0.00016"),
        ("0.800001", 5_000, "fail", "0.0001600002"),
    ],
)
def test_cost_is_exact_at_its_bound(usd: str, good: int, verdict: str, value: str | None) -> None:
    judged = Judged(costing(usd))
    judged.traffic(5_000, good=good)
    row = judged.verdict(judged.judge(), "cost_per_success_usd")
    assert (row.verdict, row.value) == (verdict, value)
    assert "0.00016 > $0.00016 " not in row.message


def test_no_requests_are_no_data_in_every_gate(judged: Judged) -> None:
    evaluation = judged.judge()
    assert evaluation.verdict == "no_data"
    assert set(evaluation.verdicts.values_list("verdict", flat=True)) == {"no_data"}


def test_counters_that_stay_zero_are_no_data(judged: Judged) -> None:
    judged.traffic(0)
    assert judged.judge().verdict == "no_data"


def test_a_wrong_split_is_invalid_evidence_and_not_a_result() -> None:
    judged = Judged(exposure=0.05, cohort="candidate")
    judged.traffic(1_700, cohort="candidate")
    judged.traffic(38_300)
    open_window(judged.product, judged.digest, 1, "incumbent", judged.opens_at, 0.95)
    evaluation = judged.judge()
    assert evaluation.verdict == "inconclusive"
    assert not evaluation.validity["attribution"]
    assert "1,700 of 40,000 in the canary where about 2,000 are due" in evaluation.reasons[0]


def test_an_unknown_price_leaves_the_cost_open_and_is_counted(judged: Judged) -> None:
    judged.everywhere(20_000, unpriced=1)
    row = judged.verdict(judged.judge(), "cost_per_success_usd")
    assert (row.verdict, row.value) == ("inconclusive", None)
    assert "3 requests" in row.message


def test_one_violation_fails_its_segment_and_the_whole(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.traffic(1, good=0, violation=1, segment="b", minute=-2)
    evaluation = judged.judge()
    assert evaluation.verdict == "fail"
    assert judged.verdict(evaluation, "violations", "B").verdict == "fail"
    assert judged.verdict(evaluation, "violations", "A").verdict == "pass"


def test_a_pooled_tail_fails_although_the_minutes_look_well(judged: Judged) -> None:
    for minute in range(-10, 0):
        judged.traffic(180, ms=1_200, minute=minute)
        judged.traffic(20, ms=4_000, minute=minute)
    row = judged.verdict(judged.judge(), "completion_p95_ms")
    assert (row.verdict, row.value) == ("fail", "4000")


def test_merged_edges_pool_their_requests(judged: Judged) -> None:
    judged.traffic(1_000, ms=10)
    judged.traffic(10, ms=2_000)
    assert judged.verdict(judged.judge(), "completion_p95_ms").value == "10"


def test_a_bound_on_an_edge_of_the_grid_is_exact_although_it_was_never_compared(
    judged: Judged,
) -> None:
    judged.everywhere(10_000)
    judged.everywhere(10_000, ms=1499.99, within=0, judged=0)
    told = judged.verdict(judged.judge(), "completion_p95_ms")
    # 1,500 is an edge of the grid, so that the histogram answers for those that were not compared.
    assert told.verdict == "pass"
    assert "not counted exactly" not in told.message


def test_between_two_edges_of_the_grid_what_is_not_sure_counts_as_outside() -> None:
    document = given(completion_p95_ms={"max": 1501, "window": "15m", "minimum_sample": 200})
    judged = Judged(document)
    judged.everywhere(10_000, ms=1501.0, within=0, judged=0)
    told = judged.verdict(judged.judge(), "completion_p95_ms")
    assert told.verdict == "fail"
    assert "not counted exactly" in told.message


def test_under_the_minimum_sample_nothing_is_decided(judged: Judged) -> None:
    judged.traffic(2, ms=2_000)
    row = judged.verdict(judged.judge(), "completion_p95_ms")
    assert (row.verdict, row.value) == ("inconclusive", "2000")
    assert "2 of 200" in row.message


def test_traffic_that_stops_holds_and_then_is_no_data(judged: Judged) -> None:
    judged.everywhere(20_000, minute=-10)
    judged.everywhere(150, minute=-9)
    evaluation = judged.judge()
    assert evaluation.verdict == "inconclusive"
    assert "no eligible request since" in evaluation.reasons[0]
    later = judged.now + timedelta(minutes=20)
    judged.count_up_to(later)
    assert judged.judge(later).verdict == "no_data"


def test_harm_is_seen_although_completeness_is_missing(judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    judged.judge()
    judged.no_edge_tells()
    evaluation = judged.judge()
    assert evaluation.verdict == "fail"
    assert evaluation.validity["state"] == "hold"


def test_without_a_live_edge_nothing_passes(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert judged.judge().verdict == "pass"
    judged.no_edge_tells()
    assert judged.judge().verdict == "inconclusive"


def test_an_edge_that_fell_silent_holds_a_pass_and_hides_no_harm(judged: Judged) -> None:
    other = Source.objects.create(
        product=judged.product,
        kind="edge",
        name="edge-2",
        watermark=judged.now,
        last_seen_at=judged.now - timedelta(seconds=31),
    )
    judged.everywhere(20_000)
    evaluation = judged.judge()
    assert evaluation.verdict == "inconclusive"
    assert "edge-2" in evaluation.reasons[0]
    judged.everywhere(20_000, good=0, minute=-2)
    assert judged.judge().verdict == "fail"
    other.last_seen_at = judged.opens_at - timedelta(seconds=1)
    other.save()
    assert judged.judge().validity["state"] == "ok"


def test_only_the_publications_own_requests_count(judged: Judged) -> None:
    judged.everywhere(20_000, good=0)
    close_window(judged.window, judged.now - timedelta(minutes=5))
    second = open_window(judged.product, judged.digest, 2, "incumbent", judged.opens_at, 1.0)
    judged.everywhere(20_000, publication=2)
    assert judged.judge(window=second).verdict == "pass"
    assert judged.judge().verdict == "fail"


def test_traffic_without_evidence_is_no_success() -> None:
    judged = Judged(evidence=False)
    judged.everywhere(20_000)
    evaluation = judged.judge()
    assert judged.verdict(evaluation, "utility").verdict == "no_data"
    assert judged.verdict(evaluation, "attainment").verdict == "fail"
    assert evaluation.figures["whole"]["populations"]["technical_success"] == 60_000
    assert evaluation.figures["whole"]["successes"] == 0


def test_online_outcomes_alone_clear_no_floor() -> None:
    judged = Judged(evidence=False)
    from accounts.guard import SYSTEM_ACTOR
    from gates.services import push_evidence

    push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(kind="online"))
    judged.everywhere(20_000)
    assert judged.verdict(judged.judge(), "utility").verdict == "no_data"


def test_a_window_opens_once_and_keeps_its_first_end(judged: Judged) -> None:
    again = open_window(judged.product, judged.digest, 1, "incumbent", judged.now, 1.0)
    assert (again.pk, again.opens_at) == (judged.window.pk, judged.opens_at)
    first = close_window(judged.window, judged.now)
    close_window(judged.window, judged.now + timedelta(hours=1))
    assert Window.objects.get().closes_at == first.closes_at


def test_a_segment_is_judged_against_its_own_floor() -> None:
    document = given()
    document["segments"]["floors"].append({"where": {"risk": "b"}, "min_utility": 0.95})
    judged = Judged(document)
    judged.everywhere(20_000)
    evaluation = judged.judge()
    assert judged.verdict(evaluation, "utility").verdict == "pass"
    assert judged.verdict(evaluation, "utility", "B").verdict == "fail"
    assert judged.verdict(evaluation, "utility", "B").bound == "0.95"


@pytest.mark.parametrize("status", ["received", "set_aside"])
def test_a_delivery_that_is_not_counted_holds_a_pass_and_hides_no_harm(
    judged: Judged, status: str
) -> None:
    judged.everywhere(20_000)
    judged.batch(watermark=judged.now - 5 * STEP)
    judged.batch(status=status, received_at=judged.now)
    evaluation = judged.judge()
    assert evaluation.verdict == "inconclusive"
    assert "deliveries" in evaluation.reasons[0]
    judged.everywhere(20_000, good=0, minute=-2)
    assert judged.judge().verdict == "fail"


def test_a_delivery_of_later_arrivals_holds_nothing(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.batch(watermark=judged.now)
    judged.batch(status="received", received_at=judged.now)
    assert judged.judge().verdict == "pass"


def test_a_closed_window_with_a_delivery_set_aside_does_not_pass(judged: Judged) -> None:
    judged.everywhere(20_000)
    close_window(judged.window, judged.now)
    assert judged.judge().verdict == "pass"
    judged.batch(status="set_aside", received_at=judged.now)
    assert judged.judge().verdict == "inconclusive"
