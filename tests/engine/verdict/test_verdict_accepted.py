"""Figures that approvers accepted bind the stages beside the gates, and never loosen one."""

from dataclasses import replace
from decimal import Decimal

import pytest

from orchid.engine.verdict.case import decode, encode
from orchid.engine.verdict.judgement import judge_case
from orchid.engine.verdict.result import Accepted
from tests.engine.verdict.case_made import (
    OPENED,
    POLICY,
    SUBJECT,
    Row,
    body,
    case_of,
    everywhere,
    results,
)

P95 = Accepted("completion_p95_ms", "", "450", "420", "max")
ATTAINED = Accepted("attainment", "", "0.98", "0.995", "min")
UTILITY = Accepted("utility", "A", "0.92", "0.94", "min")
COST = Accepted("cost_per_success_usd", "", "0.5", "0.2", "max")


def test_a_stage_within_what_was_accepted_advances() -> None:
    judged = judge_case(case_of(everywhere(600), accepted=(P95, ATTAINED, UTILITY, COST)))
    assert (judged.verdict, judged.action) == ("pass", "advance")
    told = results(judged)["accepted:completion_p95_ms", ""]
    assert (told.value, told.bound, told.margin) == ("400", "450", "50")
    assert "400 ms where 420 ms was accepted" in told.message


def test_a_figure_that_passes_its_gate_and_breaks_what_was_signed_stops_the_stage() -> None:
    judged = judge_case(case_of(everywhere(600), accepted=(replace(P95, bound="380"),)))
    gate = results(judged)["completion_p95_ms", ""]
    assert gate.verdict == "pass"
    assert (judged.verdict, judged.action) == ("fail", "roll_back")
    assert judged.reasons[0].startswith(
        "accepted:completion_p95_ms, whole: fail: 400 ms where 420 ms was accepted, "
        "380 ms is the most (its gate: 1,500 ms), "
    )
    said = "no gate failed, a figure that was signed did, and the policy says rollback"
    assert judged.why == said


def test_a_gate_that_failed_is_the_reason_whatever_was_signed() -> None:
    judged = judge_case(case_of(everywhere(600, 300), accepted=(replace(P95, bound="380"),)))
    assert judged.why == "a gate failed and the policy says rollback"


def test_a_figure_beyond_its_bound_that_chance_may_explain_holds_the_stage() -> None:
    wanted = replace(ATTAINED, bound="0.9835")
    judged = judge_case(case_of(everywhere(600, 590), accepted=(wanted,)))
    assert results(judged)["attainment", ""].verdict == "pass"
    assert results(judged)["accepted:attainment", ""].verdict == "inconclusive"
    assert (judged.verdict, judged.action) == ("inconclusive", "hold")


def test_an_accepted_bound_beyond_the_gate_is_the_gates_own() -> None:
    loose = (replace(P95, bound="9000"), replace(ATTAINED, bound="0.5"), replace(COST, bound="7"))
    told = results(judge_case(case_of(everywhere(600), accepted=loose)))
    assert told["accepted:completion_p95_ms", ""].bound == "1500"
    assert told["accepted:attainment", ""].bound == "0.96"
    assert told["accepted:cost_per_success_usd", ""].bound == "1"


@pytest.mark.parametrize("rows", [everywhere(600), everywhere(600, 500), everywhere(12)])
def test_the_gates_are_judged_as_they_would_be_without(rows: list[Row]) -> None:
    claims = (P95, ATTAINED, UTILITY, COST)
    alone, beside = (
        results(judge_case(case_of(rows))),
        results(judge_case(case_of(rows, accepted=claims))),
    )
    assert {name: one for name, one in beside.items() if name in alone} == alone
    assert len(beside) == len(alone) + len(claims)


def test_under_its_minimum_sample_a_claim_is_inconclusive_whatever_its_figure() -> None:
    told = results(judge_case(case_of(everywhere(1), accepted=(P95, COST))))
    assert told["accepted:completion_p95_ms", ""].verdict == "inconclusive"
    assert told["accepted:cost_per_success_usd", ""].verdict == "inconclusive"


def test_a_claim_without_traffic_has_no_data() -> None:
    judged = judge_case(case_of([], accepted=(P95,)))
    assert results(judged)["accepted:completion_p95_ms", ""].verdict == "no_data"
    assert judged.verdict == "no_data"


def test_what_is_live_answers_to_its_gates_alone() -> None:
    live = replace(SUBJECT, live_from=OPENED, hold_until=None)
    tight = (replace(P95, bound="1"),)
    told = judge_case(case_of(everywhere(600), subject=live, accepted=tight))
    assert "accepted:completion_p95_ms" not in {one.metric for one in told.results}


def test_a_cost_beyond_what_was_accepted_holds_unless_its_spread_refutes_it() -> None:
    spent = results(judge_case(case_of(everywhere(600))))["cost_per_success_usd", ""]
    below = format(Decimal(spent.value or "0") * Decimal("0.9999"), "f")
    told = judge_case(case_of(everywhere(600), accepted=(replace(COST, bound=below),)))
    assert results(told)["cost_per_success_usd", ""].verdict == "pass"
    # Every minute brought the same, so there is no spread that could explain the difference.
    assert results(told)["accepted:cost_per_success_usd", ""].verdict == "fail"


def test_a_case_without_accepted_figures_keeps_its_bytes_and_one_with_them_comes_back() -> None:
    bare = case_of(everywhere(60))
    assert b"accepted" not in encode(bare)
    assert decode(encode(bare)).accepted == ()
    full = replace(bare, accepted=(P95, UTILITY))
    assert decode(encode(full)).accepted == (P95, UTILITY)
    assert judge_case(decode(encode(full))).digest == judge_case(full).digest


def test_the_judgement_says_how_the_claims_were_corrected() -> None:
    plain = body(judge_case(case_of(everywhere(60))))["figures"]["multiplicity"]
    told = body(judge_case(case_of(everywhere(60), accepted=(P95, ATTAINED, COST))))
    several = told["figures"]["multiplicity"]
    assert "accepted_tests" not in plain
    assert several["accepted_tests"] == 2
    assert several["alpha_accepted_each"] == POLICY.gates.alpha_fail / 2
