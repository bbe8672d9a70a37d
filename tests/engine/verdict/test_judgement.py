"""A judgement follows from its case alone: validity first, then the verdict, then the action."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.document.canonical import canonical_bytes
from orchid.engine.document.load import load_document
from orchid.engine.verdict.case import (
    EdgeClock,
    Exposed,
    Part,
    Stratum,
    UnknownCaseError,
    Watched,
    decode,
    digest_of,
    encode,
)
from orchid.engine.verdict.judgement import judge_case
from tests.engine.verdict.case_made import (
    END,
    FACTS,
    OPENED,
    STEP,
    SUBJECT,
    Row,
    case_of,
    counted,
    everywhere,
    results,
    row,
)
from tests.engine.verdict.case_made import given as made

MINUTES = st.integers(0, 9)
COUNTS = st.tuples(st.integers(0, 400), st.floats(0.5, 1)).map(lambda p: (p[0], int(p[0] * p[1])))
ROWS = st.lists(
    st.builds(lambda at, name, n: row(at, name, *n), MINUTES, st.sampled_from("ab"), COUNTS),
    max_size=12,
)


def test_good_traffic_that_covers_the_hold_advances() -> None:
    judged = judge_case(case_of(everywhere(600)))
    assert (judged.verdict, judged.action, judged.reasons) == ("pass", "advance", ())


def test_a_pass_before_the_hold_is_over_holds() -> None:
    later = replace(SUBJECT, hold_until=END + STEP)
    judged = judge_case(case_of(everywhere(600), subject=later))
    assert (judged.verdict, judged.action) == ("pass", "hold")
    assert "09:11:00" in judged.why


def test_a_stage_without_a_hold_never_goes_on() -> None:
    judged = judge_case(case_of(everywhere(600), subject=replace(SUBJECT, hold_until=None)))
    assert (judged.verdict, judged.action) == ("pass", "hold")


def test_harm_stops_a_stage_before_its_hold_is_over() -> None:
    later = replace(SUBJECT, hold_until=END + timedelta(days=1))
    judged = judge_case(case_of(everywhere(600, 500), subject=later))
    assert (judged.verdict, judged.action) == ("fail", "roll_back")


def test_a_policy_that_says_so_pauses_instead() -> None:
    document = made()
    document["rollout"]["on_breach"] = "pause"
    given = canonical_bytes(load_document(document).document).decode()
    assert judge_case(case_of(everywhere(600, 500), given=given)).action == "pause"


def test_what_is_live_is_moved_by_people_alone() -> None:
    live = replace(SUBJECT, live_from=OPENED, hold_until=None)
    judged = judge_case(case_of(everywhere(600, 500), subject=live))
    assert (judged.verdict, judged.action) == ("fail", "hold")


def test_nothing_counted_is_no_data_and_holds() -> None:
    judged = judge_case(case_of([]))
    assert (judged.verdict, judged.action) == ("no_data", "hold")
    assert {one.verdict for one in judged.results} == {"no_data"}


def test_one_silent_segment_holds_the_whole_and_is_named() -> None:
    judged = judge_case(case_of([row(at, "a", 900) for at in range(10)]))
    assert (judged.verdict, judged.action) == ("inconclusive", "hold")
    assert any("segment B" in said and "0 of 200" in said for said in judged.reasons)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(FACTS, missing={"edge-1": 12}), "records of edge-1 that never came: 12"),
        (replace(FACTS, waiting=1), "deliveries not yet counted: 1"),
        (replace(FACTS, silent=("edge-2",)), "edge-2"),
        (replace(FACTS, heard=False), "no gateway population"),
        (replace(FACTS, stalled_at=END), "no further than"),
        (replace(FACTS, quiet="hold"), "no eligible request since"),
    ],
)
def test_missing_completeness_holds_a_pass_and_hides_no_harm(facts: object, said: str) -> None:
    good = judge_case(case_of(everywhere(600), facts=facts))
    assert (good.verdict, good.action, good.state) == ("inconclusive", "hold", "hold")
    assert said in good.reasons[0]
    assert not {one.verdict for one in good.results} & {"pass", "fail"}
    bad = judge_case(case_of(everywhere(600, 400), facts=facts))
    assert (bad.verdict, bad.action) == ("fail", "roll_back")


BROKEN = [
    ("clock", {"facts": replace(FACTS, clocks=(EdgeClock("edge-1", 9_000),))}, "9.0 s ahead"),
    (
        "split",
        {"exposed": Exposed("sessions", (Stratum("", 1_700, 38_300),))},
        "sessions: 1,700 of 40,000 in the canary where about 2,000 are due",
    ),
    (
        "double_exposure",
        {"exposed": Exposed("sessions", (Stratum("", 2_000, 38_001, 1),))},
        "1 of 40,000 sessions in both cohorts",
    ),
    (
        "split",
        {
            "exposed": Exposed(
                "sessions", (Stratum("risk=a", 900, 9_100), Stratum("risk=b", 100, 9_900))
            )
        },
        "stratum risk=a: 900 of 10,000",
    ),
]


@pytest.mark.parametrize(("name", "changes", "said"), BROKEN)
@pytest.mark.parametrize("good", [600, 400])
def test_broken_attribution_holds_pass_and_harm_alike(
    name: str, changes: dict[str, object], said: str, good: int
) -> None:
    subject = replace(SUBJECT, exposure=0.05)
    judged = judge_case(case_of(everywhere(600, good), subject=subject, **changes))
    assert (judged.verdict, judged.action, judged.state) == ("inconclusive", "hold", "broken")
    assert said in judged.reasons[0]
    assert judged.reasons[0].startswith(f"{name}: ")
    assert not judged.validity["attribution"]
    assert {one.verdict for one in judged.results} == {"inconclusive"}


def test_a_split_that_fell_as_it_should_is_told_with_its_counts() -> None:
    exposed = Exposed("sessions", (Stratum("risk=a", 510, 9_490), Stratum("risk=b", 489, 9_511)))
    subject = replace(SUBJECT, exposure=0.05)
    judged = judge_case(case_of(everywhere(600), subject=subject, exposed=exposed))
    assert judged.verdict == "pass"
    said = {one.name: one.message for one in judged.checks}
    assert "999 of 20,000" in said["split"]
    assert said["double_exposure"] == "0 of 20,000 sessions in both cohorts"


def test_without_single_requests_the_split_is_counted_in_those_of_rollups() -> None:
    mine, other = [row(0, "a", 1_700)], [row(0, "a", 38_300)]
    subject = replace(SUBJECT, exposure=0.05)
    judged = judge_case(case_of(mine, subject=subject, beside=counted(other)))
    assert judged.reasons[0].startswith("split: requests of rollups: 1,700 of 40,000")
    seen = replace(subject, cohort="incumbent", exposure=0.95)
    judged = judge_case(case_of(other, subject=seen, beside=counted(mine)))
    assert judged.reasons[0].startswith("split: requests of rollups: 1,700 of 40,000")


def test_traffic_that_expired_carries_no_figure_forward() -> None:
    judged = judge_case(case_of(everywhere(600), facts=replace(FACTS, quiet="expired")))
    assert (judged.verdict, judged.action) == ("no_data", "hold")
    assert {(one.verdict, one.value) for one in judged.results} == {("no_data", None)}


def test_a_violation_of_the_running_step_fails_at_once() -> None:
    judged = judge_case(case_of(everywhere(600), running=(("risk=b|tenant_class=standard", 2),)))
    found = results(judged)
    assert (judged.verdict, judged.action) == ("fail", "roll_back")
    assert found["violations", "B"].verdict == found["violations", ""].verdict == "fail"
    assert found["violations", "A"].verdict == "pass"
    assert "2 of them in the step that still runs" in found["violations", "B"].message


def test_what_is_live_and_began_anew_fails_by_the_detector_alone() -> None:
    """A slightly low share fails the e-values of a stage and not a stretch that may be luck."""
    rows = everywhere(600, 565)
    live = replace(SUBJECT, live_from=OPENED - STEP, opens_at=OPENED - STEP, hold_until=None)
    unwatched = Watched(OPENED)
    assert judge_case(case_of(rows, watched=unwatched)).verdict == "fail"
    calm = judge_case(case_of(rows, subject=live, watched=unwatched))
    assert calm.verdict == "inconclusive"
    rung = judge_case(case_of(everywhere(600, 300), subject=live))
    assert rung.verdict == "fail"
    assert "the detector rings" in results(rung)["attainment", "A"].message


def test_the_detector_goes_on_from_where_it_stood() -> None:
    rows = everywhere(600, 585)
    whole = judge_case(case_of(rows)).watched
    middle = OPENED + 4 * STEP
    first = counted([r for r in rows if r.step_at < middle], by_step=True, end=middle)
    before = judge_case(case_of(rows, watched=Watched(OPENED, counted=first))).watched
    # A design effect is known to the steps that come after the window that showed it.
    known = [1.0] * len(before["effects"])
    second = counted([r for r in rows if r.step_at >= middle], by_step=True, start=middle)
    watched = Watched(middle, before["steps"], before["log_r"], known, second)
    after = judge_case(case_of(rows, watched=watched)).watched
    assert after["steps"] == whole["steps"] == 10
    for one, other in zip(after["log_r"], whole["log_r"], strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_a_scope_with_a_start_of_its_own_is_judged_by_it() -> None:
    older = OPENED - 60 * STEP
    rare = counted([replace(row(0, "b", 300), step_at=older)], start=older)
    parts = (
        Part(OPENED, (), counted([row(0, "a", 6_000), row(0, "b", 10)])),
        Part(older, ("B",), rare),
    )
    subject = replace(SUBJECT, live_from=older, opens_at=older, hold_until=None)
    judged = judge_case(case_of([], parts=parts, subject=subject))
    found = results(judged)
    assert (found["attainment", "A"].n, found["attainment", "B"].n) == (6_000, 300)
    segment = next(one for one in judged.figures["segments"] if one["name"] == "B")
    assert segment["from"] == older.isoformat()


def test_multiplicity_is_stated() -> None:
    told = judge_case(case_of(everywhere(600))).figures["multiplicity"]
    assert told["tests"] == 3 * 3
    assert told["alpha_pass_each"] == told["alpha_fail_each"] * told["tests"] * 5
    assert told["detector_tests"] == 2 * 3


@settings(max_examples=40, deadline=None)
@given(ROWS, st.randoms())
def test_batching_and_order_change_no_byte(rows: list[Row], dice: object) -> None:
    shuffled = list(rows)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    cut = len(rows) // 2
    in_parts = counted(shuffled[:cut]).merged([counted(shuffled[:cut]), counted(shuffled[cut:])])
    one = encode(case_of(rows))
    other = case_of(shuffled, parts=(Part(OPENED, (), in_parts),))
    assert encode(other) == one


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_a_judgement_is_recomputed_from_its_bytes_to_the_same_bytes(rows: list[Row]) -> None:
    case = case_of(rows)
    data = encode(case)
    again = decode(data)
    assert encode(again) == data
    assert judge_case(again).as_json() == judge_case(case).as_json()
    assert judge_case(again).digest == judge_case(case).digest


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(MINUTES, st.integers(1, 2_000)), max_size=6))
def test_more_good_data_never_turns_a_pass_into_a_fail(more: list[tuple[int, int]]) -> None:
    rows = everywhere(300, 299)
    assert judge_case(case_of(rows)).verdict == "pass"
    added = [row(minute, name, count) for minute, count in more for name in "ab"]
    assert judge_case(case_of(rows + added)).verdict != "fail"


def test_every_part_of_a_case_is_in_its_digest() -> None:
    rows = everywhere(600)
    known = digest_of(encode(case_of(rows)))
    others = [
        case_of(rows, evidence=()),
        case_of(rows, end=END + STEP),
        case_of(rows, facts=replace(FACTS, waiting=1)),
        case_of(rows, running=(("risk=a", 1),)),
        case_of(rows, watched=Watched(OPENED)),
        case_of(rows, beside=counted(rows)),
        case_of(rows, exposed=Exposed("sessions", (Stratum("", 1, 2),))),
        case_of(rows, guarded={60_000: counted(rows)}),
        case_of(rows, subject=replace(SUBJECT, publication=3)),
        case_of([*rows, replace(row(0, "a", 0), cost_usd=Decimal("0.01"), records=1)]),
    ]
    digests = {digest_of(encode(one)) for one in others}
    assert len(digests | {known}) == len(others) + 1


@pytest.mark.parametrize("data", [b"", b"\x00", b"not a case"])
def test_other_bytes_are_no_case(data: bytes) -> None:
    with pytest.raises(UnknownCaseError):
        decode(data)
