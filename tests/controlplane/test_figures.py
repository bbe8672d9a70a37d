"""How numbers are written: never onto or past what they are judged by."""

from decimal import Decimal

import pytest

from controlplane import figures


@pytest.mark.parametrize(
    ("cost", "written"),
    [
        ("0.00016", "$0.00016000"),
        ("0.0001600002", "$0.0001600002"),
        ("0.00015999999", "$0.00015999999"),
        ("0.0002141007516666666666666667", "$0.00021410"),
        ("0.01458333", "$0.01458333"),
    ],
)
def test_a_cost_that_breaks_its_bound_shows_the_digit_that_does(cost: str, written: str) -> None:
    assert figures.cost_usd(Decimal(cost), Decimal("0.00016")) == written


def test_rounding_does_not_carry_a_figure_across_a_finer_bound() -> None:
    assert figures.decimals(Decimal("0.91236"), 4, Decimal("0.912365")) == "0.91236"


@pytest.mark.parametrize(
    ("dollars", "written"),
    [("15330", "$15,330.00"), ("174", "$174.00"), ("0.35", "$0.3500"), ("-2.5", "−$2.50")],
)
def test_a_sum_of_dollars_has_cents_and_groups(dollars: str, written: str) -> None:
    assert figures.ledger_usd(Decimal(dollars)) == written


def test_a_small_change_is_not_written_as_none() -> None:
    assert figures.percent(Decimal("-0.000357"), 1, Decimal(0)) == "−0.04 %"
    assert figures.signed(figures.decimals(Decimal("0.00002"), 4, Decimal(0))) == "+0.00002"


def test_nothing_has_no_sign() -> None:
    assert figures.signed(figures.decimals(Decimal("0"), 4, Decimal(0))) == "0.0000"
    assert figures.decimals(Decimal("-0.00001"), 2) == "0.00"


def test_a_declared_figure_keeps_its_digits_and_no_padding() -> None:
    assert figures.shortest(Decimal("7020.000")) == "7,020"
    assert figures.usd(Decimal("0.00026")) == "$0.00026"
    assert figures.usd(Decimal("4.8")) == "$4.80"


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (0.85, "85 %"),
        (0.8996, "89.96 %"),
        (0.9, "90 %"),
        (0.9 - 1e-12, "90 %"),
        (0.9004, "90.04 %"),
    ],
)
def test_a_computed_share_is_never_written_as_the_one_it_is_held_to(
    part: float, written: str
) -> None:
    assert figures.share(part, 0, 0.9) == written
