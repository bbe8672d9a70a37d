"""Cost at a steady rate: exact at its bound, and no price where nothing succeeded."""

from decimal import Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import (
    attainment,
    cost_per_success_usd,
    exceeds,
    ledger_usd_between,
    steady_cost_per_success_usd,
)


def test_a_quarter_of_an_hour_costs_a_quarter_of_the_ledger(reference: PolicyDocument) -> None:
    assert ledger_usd_between(reference, Decimal(900)) == Decimal("43.5")


def test_the_cost_bound_itself_is_within() -> None:
    bound = Decimal("0.00016")
    assert not exceeds(Decimal("0.80"), 5_000, bound)
    assert exceeds(Decimal("0.800001"), 5_000, bound)
    assert exceeds(Decimal("0.80"), 0, bound)


def test_without_a_success_there_is_no_price_and_without_an_offer_no_share(
    reference: PolicyDocument,
) -> None:
    assert cost_per_success_usd(Decimal("0.80"), 0) is None
    assert steady_cost_per_success_usd(reference, Decimal(0)) is None
    assert attainment(Decimal(0), Decimal(0)) is None
