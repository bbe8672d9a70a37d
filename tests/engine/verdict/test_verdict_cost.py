"""Cost per success: exact at its bound, and never a number where there is none."""

from decimal import Decimal

import pytest

from orchid.engine.verdict.cost import Spending, judge
from orchid.engine.verdict.result import Result, Verdict

BOUND = Decimal("0.00016")


def judged(
    usd: str, successes: int, requests: int = 5000, unpriced: int = 0, blocks: tuple[int, ...] = ()
) -> Result:
    spending = Spending(Decimal(usd), successes, requests, unpriced, 200, blocks)
    return judge("", spending, BOUND, fragile_margin=0.01)


def test_money_without_success_fails() -> None:
    result = judged("0.80", 0)
    assert (result.verdict, result.value) == (Verdict.FAIL, None)
    assert "money without success" in result.message
    assert "NaN" not in result.message


def test_equality_passes() -> None:
    result = judged("0.80", 5000)
    assert (result.verdict, result.value, result.margin) == (Verdict.PASS, "0.00016", "0")
    assert result.fragile


def test_a_hair_over_the_bound_fails_and_never_looks_equal() -> None:
    result = judged("0.800001", 5000)
    assert result.verdict is Verdict.FAIL
    assert result.value is not None
    assert Decimal(result.value) > BOUND
    assert "$0.00016 > $0.00016" not in result.message


def test_no_requests_are_no_data_whatever_was_spent() -> None:
    assert judged("0", 0, requests=0).verdict is Verdict.NO_DATA
    assert judged("3.10", 0, requests=0).verdict is Verdict.NO_DATA


def test_an_unknown_price_is_counted_and_never_zero() -> None:
    result = judged("0.1", 5000, unpriced=3)
    assert (result.verdict, result.value) == (Verdict.INCONCLUSIVE, None)
    assert "3 requests" in result.message


def test_a_price_of_zero_is_zero() -> None:
    assert judged("0", 5000).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("usd", "successes", "requests"), [("0.001", 100, 100), ("9.00", 100, 100), ("9.00", 0, 100)]
)
def test_small_windows_decide_nothing(usd: str, successes: int, requests: int) -> None:
    result = judged(usd, successes, requests)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert f"{successes} of 200" in result.message


def test_few_successes_among_many_requests_are_the_harm_itself() -> None:
    assert judged("9.00", 100, requests=5000).verdict is Verdict.FAIL


def test_the_selected_reference_point_passes_with_its_reserve() -> None:
    result = judged("174.00", 1_151_280, requests=1_170_000)
    assert result.verdict is Verdict.PASS
    assert result.value == "0.00015114"
    assert result.margin == "0.00000886"


def test_a_bill_17_percent_over_fails() -> None:
    result = judged("0.936", 5000)
    assert (result.verdict, result.value) == (Verdict.FAIL, "0.0001872")


def test_uneven_successes_mark_a_pass_fragile() -> None:
    even = judged("0.70", 5000, blocks=(500,) * 10)
    uneven = judged("0.70", 5000, blocks=(1000, 0) * 5)
    assert (even.verdict, even.fragile) == (Verdict.PASS, False)
    assert (uneven.verdict, uneven.fragile) == (Verdict.PASS, True)
