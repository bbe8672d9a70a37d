"""Prices of requests and of attempts at a priced upstream."""

from decimal import Decimal

import pytest

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.economics import upstream_usd
from orchid.engine.pricing import UnpricedModelError, teu


def price(given: str, cached: str | None, written: str | None, output: str) -> Price:
    return Price(
        input_usd_per_million=Decimal(given),
        cached_input_usd_per_million=Decimal(cached) if cached else None,
        cache_write_usd_per_million=Decimal(written) if written else None,
        output_usd_per_million=Decimal(output),
    )


def test_a_model_without_a_factor_has_no_price(reference: PolicyDocument) -> None:
    with pytest.raises(UnpricedModelError, match="huge"):
        teu(reference.demand, "huge", 10, 10)


def test_observed_work_is_charged_by_the_same_rule(reference: PolicyDocument) -> None:
    assert teu(reference.demand, "full", 900, 20) == 245
    assert teu(reference.demand, "full", 0, 0) == 0


def test_cached_tokens_are_charged_at_their_own_price() -> None:
    paid = upstream_usd(
        price("2.50", "1.25", None, "10"),
        input_tokens=86,
        cached_input_tokens=1_920,
        output_tokens=300,
    )
    assert paid == Decimal("0.005615")


def test_cache_writes_are_charged_at_their_own_price() -> None:
    paid = upstream_usd(
        price("3", None, "3.75", "15"),
        input_tokens=3,
        cache_write_tokens=12_304,
        output_tokens=550,
    )
    assert paid == Decimal("0.054399")


def test_a_tier_without_a_price_is_never_free() -> None:
    plain = price("3", None, None, "15")
    assert upstream_usd(plain, input_tokens=0, cached_input_tokens=10, output_tokens=0) == Decimal(
        "0.00003"
    )


def test_an_explicit_price_of_zero_is_zero() -> None:
    free = price("0", "0", "0", "0")
    assert upstream_usd(free, input_tokens=9, cached_input_tokens=9, output_tokens=9) == 0
