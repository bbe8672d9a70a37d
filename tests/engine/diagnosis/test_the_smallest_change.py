"""The smallest change of policy that brings a gate back, by recomputing the recorded counts."""

from fractions import Fraction
from typing import Any

import pytest

from orchid.engine.diagnosis.cells import Cell
from orchid.engine.diagnosis.proposal import Goal, Proposal, Windows, applied, propose
from orchid.engine.document.model import PolicyDocument
from tests.engine.diagnosis.windows import BOUND, window_cell
from tests.reference_document import changed

ATTAINMENT = Goal("attainment", Fraction("0.96"), {})
VIOLATIONS = Goal("violations", Fraction(0), {})
LATENCY = Goal("completion_p95_ms", Fraction("0.95"), {}, BOUND)
SEGMENTS = ("task=a|tier=x", "task=b|tier=x", "task=c|tier=y")


def document(**changes: Any) -> PolicyDocument:
    given = changed()
    given["segments"]["dimensions"] = ["task", "tier", "output_bucket"]
    given["segments"]["floors"] = [{"where": {}, "min_utility": 0.895}]
    given["fallback"] = [{"from": "full", "to": "compact", "where": {}}]
    return PolicyDocument.model_validate(given | changes)


def found(goal: Goal, before: list[Cell], after: list[Cell], *others: Goal) -> Proposal | None:
    windows = Windows(document(), before, after, Fraction(10), Fraction(60))
    return propose(windows, goal, others, Fraction(10))


def denied(proposal: Proposal | None) -> list[Any]:
    assert proposal is not None
    return [edit.value["where"] for edit in proposal.change.edits]


def on_full() -> list[Cell]:
    return [window_cell(segment) for segment in SEGMENTS]


def on_compact(**failed: int) -> list[Cell]:
    return [window_cell(s, "compact", losses={"failed": failed.get(s[5], 0)}) for s in SEGMENTS]


def test_one_bad_segment_is_taken_out_of_fallback_by_the_shortest_selector() -> None:
    proposal = found(ATTAINMENT, on_full(), on_compact(b=400))
    assert denied(proposal) == [{"task": "b"}]
    assert proposal is not None
    assert (proposal.brings_back, proposal.change.requests) == (True, Fraction(1000))
    (attainment,) = proposal.outlook
    assert (attainment.recorded, attainment.expected) == (Fraction(2600, 3000), Fraction(1))


def test_two_that_share_a_value_leave_by_it_and_the_third_stays() -> None:
    assert denied(found(ATTAINMENT, on_full(), on_compact(a=300, b=300))) == [{"tier": "x"}]


def test_two_that_share_nothing_leave_by_a_rule_each() -> None:
    proposal = found(ATTAINMENT, on_full(), on_compact(a=300, c=300))
    assert denied(proposal) == [{"task": "a", "tier": "x"}, {"task": "c", "tier": "y"}]


def test_no_more_is_taken_than_the_bound_needs() -> None:
    """2,860 of 3,000 are 95.3 %; without the 60 of c alone it is over 96 %."""
    assert denied(found(ATTAINMENT, on_full(), on_compact(a=80, c=60))) == [{"task": "a"}]


def test_what_was_missed_before_as_well_is_the_target() -> None:
    before = [window_cell(s, losses={"violation": 2}) for s in SEGMENTS]
    after = [
        window_cell(s, "compact", losses={"violation": 2 if "b" not in s else 50}) for s in SEGMENTS
    ]
    proposal = found(VIOLATIONS, before, after)
    assert denied(proposal) == [{"task": "b"}]
    assert proposal is not None
    assert (proposal.target, proposal.brings_back) == (Fraction(6), True)


def test_a_route_that_the_windows_never_saw_promises_nothing() -> None:
    others = [window_cell(s) for s in SEGMENTS if "b" not in s]
    assert found(ATTAINMENT, others, on_compact(b=400)) is None
    few = [*others, window_cell(SEGMENTS[1], n=29)]
    assert found(ATTAINMENT, few, on_compact(b=400)) is None


def test_a_rule_names_what_a_policy_may_and_learns_from_any_load() -> None:
    """Fallback happens under load, where the asked route was never seen."""
    before = [window_cell("load_state=normal|task=b|tier=x")]
    after = [
        window_cell("load_state=compact_fallback|task=b|tier=x", "compact", losses={"failed": 400}),
        window_cell("load_state=normal|task=a|tier=x"),
    ]
    proposal = found(ATTAINMENT, before, after)
    assert denied(proposal) == [{"task": "b"}]
    assert proposal is not None
    assert proposal.is_within


def test_the_best_that_is_not_enough_is_shown_as_such() -> None:
    lost = [window_cell(s, losses={"failed": 100}) for s in SEGMENTS]
    after = [window_cell(s, losses={"failed": 500}) for s in SEGMENTS[:2]] + [
        window_cell(SEGMENTS[2], "compact", losses={"failed": 500})
    ]
    proposal = found(ATTAINMENT, lost, after)
    assert proposal is not None
    assert not proposal.brings_back
    assert denied(proposal) == [{"task": "c"}]


def test_another_gate_that_would_break_is_named() -> None:
    slow = [window_cell(s, late=300) for s in SEGMENTS]
    proposal = found(ATTAINMENT, slow, on_compact(a=300, b=300, c=300), LATENCY)
    assert proposal is not None
    assert proposal.outlook[1].kept
    assert not proposal.outlook[1].keeps
    assert any("completion_p95_ms would leave its bound" in said for said in proposal.caveats)


def test_nothing_is_proposed_for_a_gate_that_keeps_its_bound() -> None:
    assert found(ATTAINMENT, on_full(), on_compact(b=1)) is None


@pytest.mark.parametrize("goal", [ATTAINMENT, VIOLATIONS, LATENCY])
def test_nothing_is_proposed_where_nothing_gets_better(goal: Goal) -> None:
    assert found(goal, on_full(), on_compact()) is None


def test_refusals_for_want_of_room_ask_for_a_lower_cap() -> None:
    key = "task=short_assistant|tier=x"
    after = [
        window_cell(key, n=900, teu=900 * 345),
        window_cell(key, "", n=100, losses={"rejected": 100}),
    ]
    proposal = found(ATTAINMENT, [window_cell(key)], after)
    assert proposal is not None
    (edit,) = proposal.change.edits
    assert edit.path == ("classes", "short_assistant", "max_output_tokens")
    # 60 more at 345 TEU each are 20,700; 900 requests free them from 23 tokens on.
    assert (edit.value, proposal.brings_back) == (96, True)
    assert any("bounded by it" in said for said in proposal.caveats)


def test_edits_make_the_next_document_and_leave_the_old_one() -> None:
    proposal = found(ATTAINMENT, on_full(), on_compact(b=400))
    assert proposal is not None
    given = changed()
    rules = list(given["fallback"])
    after = applied(given, proposal.change.edits)
    assert after["fallback"] == [*rules, {"deny": True, "where": {"task": "b"}}]
    assert given["fallback"] == rules
    del given["fallback"]
    assert applied(given, proposal.change.edits)["fallback"] == after["fallback"][-1:]
