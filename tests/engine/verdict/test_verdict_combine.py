"""Many results as one verdict, and the check of a canary's split."""

import math

import pytest

from orchid.engine.verdict import exposure
from orchid.engine.verdict.combine import combine, multiplicity_text
from orchid.engine.verdict.result import Levels, Result, Verdict

PASS, FAIL = Verdict.PASS, Verdict.FAIL
OPEN, SILENT = Verdict.INCONCLUSIVE, Verdict.NO_DATA


def result(verdict: Verdict, segment: str = "", log_e_fail: float | None = None) -> Result:
    return Result(
        "attainment", segment, verdict, "0.96", f"{verdict}", n=1000, log_e_fail=log_e_fail
    )


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((), SILENT),
        ((PASS, PASS), PASS),
        ((PASS, OPEN), OPEN),
        ((PASS, SILENT), OPEN),
        ((SILENT, SILENT), SILENT),
        ((PASS, OPEN, SILENT, FAIL), FAIL),
    ],
)
def test_the_worst_result_wins_and_emptiness_never_passes(
    verdicts: tuple[Verdict, ...], expected: Verdict
) -> None:
    assert combine([result(v) for v in verdicts], 0.01).verdict is expected


def test_a_silent_segment_is_named() -> None:
    silent = Result("attainment", "C", SILENT, "0.96", "no data: 0 of 200 requests")
    overall = combine([result(PASS, "A"), result(PASS, "B"), silent], 0.01)
    assert overall.verdict is OPEN
    assert overall.reasons == ("attainment, segment C: no data: 0 of 200 requests",)
    assert overall.worst is silent


def test_harm_that_no_single_result_shows_is_seen_together() -> None:
    several = [result(OPEN, name, math.log(150)) for name in "abcd"]
    assert combine(several, 0.01).verdict is FAIL
    assert combine([result(OPEN, name, math.log(50)) for name in "abcd"], 0.01).verdict is OPEN


def test_failing_alone_is_corrected_for_the_number_of_tests() -> None:
    assert Levels(0.05, 0.01, tests=20).alpha_each_fail == pytest.approx(0.0005)


def test_a_split_that_is_off_is_invalid_and_says_which_count() -> None:
    split = exposure.check(1700, 40_000, 0.05)
    assert not split.holds
    assert "1,700 of 40,000 in the canary where about 2,000 are due" in split.message


@pytest.mark.parametrize("candidate", [1950, 2000, 2060])
def test_a_split_that_is_right_holds(candidate: int) -> None:
    assert exposure.check(candidate, 40_000, 0.05).holds


def test_full_exposure_has_no_incumbent() -> None:
    assert exposure.check(500, 500, 1.0).holds
    assert not exposure.check(499, 500, 1.0).holds


def test_what_only_all_together_show_is_said_with_its_mean() -> None:
    several = [
        result(OPEN, name, math.log(e)) for name, e in zip("abcd", (150, 90, 90, 90), strict=True)
    ]
    (reason,) = combine(several, 0.01).reasons
    assert reason.startswith("together: the e-values of 4 tests have a mean of 1.0e+02; most of it")
    assert "segment a" in reason


def test_the_number_of_tests_is_said_with_what_it_asks() -> None:
    assert multiplicity_text(Levels(0.05, 0.01, tests=17)) == (
        "17 tests; each passes at e >= 20, and all must; "
        "a fail needs e >= 1,700 in one or a mean of 100"
    )


def test_harm_that_is_certain_is_not_averaged_away() -> None:
    certain = Result("attainment", "", FAIL, "1", "fail", n=1000, log_e_fail=math.inf)
    assert combine([certain, result(PASS)], 0.01).verdict is FAIL
