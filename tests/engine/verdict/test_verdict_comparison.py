"""A canary against the incumbent: within strata, at the incumbent's mix, valid at any look."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.document.canonical import canonical_bytes
from orchid.engine.document.load import load_document
from orchid.engine.verdict.comparison import Arm, Effects, Stratum, difference, judge
from orchid.engine.verdict.judgement import Judgement, judge_case
from orchid.engine.verdict.result import Levels, Result, Verdict
from tests.engine.verdict.case_made import SUBJECT, case_of, counted, everywhere, row
from tests.engine.verdict.case_made import given as policy

LEVELS = Levels(alpha_pass=0.05, alpha_fail=0.01)
counts = st.integers(20, 5000).flatmap(lambda n: st.builds(Arm, st.integers(0, n), st.just(n)))


def stratum(name: str, mine: tuple[int, int], other: tuple[int, int]) -> Stratum:
    return Stratum(name, Arm(*mine), Arm(*other))


def judged(*strata: Stratum, limit: float | None = 0.01, effects: Effects | None = None) -> Result:
    found = difference(strata, effects or Effects())
    return judge("attainment_against_incumbent", found, limit, 200, LEVELS)


def test_an_easier_mix_does_not_make_a_canary_better() -> None:
    # By its own mix the canary succeeds in 96.6 %, the incumbent in 92 %; in each stratum it loses.
    found = difference(
        [
            stratum("easy", (8_730, 9_000), (9_800, 10_000)),
            stratum("hard", (800, 1_000), (8_600, 10_000)),
        ],
        Effects(),
    )
    assert found is not None
    assert found.points == pytest.approx(-0.5 * 0.01 - 0.5 * 0.06)


def test_a_clear_loss_fails_and_an_equal_canary_passes() -> None:
    worse = judged(stratum("all", (9_400, 10_000), (98_000, 100_000)))
    assert (worse.verdict, worse.bound) == (Verdict.FAIL, "-0.01")
    equal = judged(stratum("all", (19_600, 20_000), (98_000, 100_000)))
    assert equal.verdict is Verdict.PASS
    assert equal.margin == "0.010000"
    assert "a loss of 1 point is allowed" in equal.message


def test_without_a_limit_it_is_shown_and_cannot_fail() -> None:
    shown = judged(stratum("all", (5_000, 10_000), (98_000, 100_000)), limit=None)
    assert (shown.verdict, shown.log_e_fail, shown.bound) == (Verdict.INCONCLUSIVE, None, "")
    assert "it gates nothing" in shown.message


def test_a_stratum_that_one_arm_lacks_is_said_and_holds_a_pass() -> None:
    both = stratum("standard", (19_800, 20_000), (98_000, 100_000))
    rare = stratum("premium", (0, 0), (980, 1_000))
    assert judged(both, rare).verdict is Verdict.PASS
    assert "not compared, fewer than 20 in an arm: premium (0.9901 % of the incumbent)" in (
        judged(both, rare).message
    )
    large = stratum("premium", (3, 3), (49_000, 50_000))
    assert judged(both, large).verdict is Verdict.INCONCLUSIVE


def test_without_a_common_stratum_there_is_no_data() -> None:
    apart = judged(stratum("a", (100, 100), (0, 0)), stratum("b", (0, 0), (100, 100)))
    assert (apart.verdict, apart.value) == (Verdict.NO_DATA, None)


def test_correlated_arms_say_less() -> None:
    strata = [stratum("all", (19_600, 20_000), (98_000, 100_000))]
    assert judged(*strata).verdict is Verdict.PASS
    assert judged(*strata, effects=Effects(60.0, 60.0)).verdict is Verdict.INCONCLUSIVE


def test_looking_at_every_step_rarely_passes_a_loss_at_its_limit() -> None:
    generator, passed = np.random.default_rng(8), 0
    for _ in range(200):
        mine = generator.binomial(20, 0.95, 150).cumsum()
        other = generator.binomial(80, 0.96, 150).cumsum()
        looks = [
            difference([stratum("all", (int(s), 20 * n), (int(t), 80 * n))], Effects())
            for n, (s, t) in enumerate(zip(mine, other, strict=True), start=1)
        ]
        passed += any(
            one.log_e(-0.01) >= math.log(20) for one in looks if one and one.candidate >= 200
        )
    assert passed <= 18  # 5 % of 200 is 10; three standard deviations above is 19


@given(counts, counts)
def test_swapping_the_arms_of_one_stratum_turns_the_difference_round(mine: Arm, other: Arm) -> None:
    there = difference([Stratum("all", mine, other)], Effects(2.0, 3.0))
    back = difference([Stratum("all", other, mine)], Effects(3.0, 2.0))
    assert there is not None
    assert back is not None
    assert there.points == pytest.approx(-back.points)
    assert there.log_e(0.0) == pytest.approx(back.log_e_below(0.0))


@given(counts, counts)
def test_the_interval_holds_what_was_observed(mine: Arm, other: Arm) -> None:
    found = difference([Stratum("all", mine, other)], Effects())
    assert found is not None
    low, high = found.interval(0.05)
    assert low <= found.points <= high


def canary(good: int, limit: float | None) -> Judgement:
    """Ten minutes of a canary whose incumbent succeeds in 99 of 100."""
    document = policy()
    document["rollout"]["strata"] = ["risk"]
    if limit is not None:
        document["gates"]["against_incumbent"] = {"attainment": limit}
    case = case_of(
        everywhere(100, good),
        subject=replace(SUBJECT, exposure=0.5),
        given=canonical_bytes(load_document(document).document).decode(),
        beside=counted([row(m, s, 100, 99) for m in range(10) for s in ("a", "b")]),
    )
    return judge_case(case)


def test_a_canary_that_loses_too_much_fails_by_name() -> None:
    found = {one.metric: one for one in canary(90, 0.01).results}
    assert found["attainment_against_incumbent"].verdict is Verdict.FAIL
    assert "at its mix of 2 strata" in found["attainment_against_incumbent"].message


def test_what_a_document_does_not_limit_is_only_shown() -> None:
    found = canary(90, None)
    assert all("against_incumbent" not in one.metric for one in found.results)
    shown = {one["metric"]: one for one in found.figures["against_incumbent"]}
    assert set(shown) == {"completion_p95_ms_against_incumbent", "attainment_against_incumbent"}
    assert float(shown["attainment_against_incumbent"]["value"]) == pytest.approx(-0.09)


def test_every_stratum_is_shown_with_both_arms_and_its_own_interval() -> None:
    shown = {one["metric"]: one for one in canary(90, None).figures["against_incumbent"]}
    strata = shown["attainment_against_incumbent"]["strata"]
    compared = [part for part in strata if part["points"] is not None]
    assert [part["stratum"] for part in compared] == ["a", "b"]
    for part in compared:
        assert part["candidate"] == {"within": 900, "total": 1_000}
        assert part["incumbent"] == {"within": 990, "total": 1_000}
        assert part["points"] == pytest.approx(-0.09)
        assert part["low"] < part["points"] < part["high"]
