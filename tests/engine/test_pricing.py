"""Prices of requests and of attempts at a priced upstream."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.economics import card, upstream_usd
from orchid.engine.pricing import (
    UnpricedModelError,
    class_price,
    cross_cap,
    pad_of,
    reserve,
    settle,
    teu,
)
from tests.reference_document import changed


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


LONG = {"above_tokens": 1_000, "input_usd_per_million": "6", "output_usd_per_million": "22.5"}


def tiered(**extra: Any) -> Price:
    plain = {"input_usd_per_million": "3", "output_usd_per_million": "15"}
    cache = {"cached_input_usd_per_million": "0.3", "cache_write_usd_per_million": "3.75"}
    return Price.model_validate({**plain, **cache, **extra})


def test_a_long_prompt_is_dear_as_a_whole_and_only_above_its_length() -> None:
    price = tiered(long_prompt=LONG)
    assert upstream_usd(price, input_tokens=1_000, output_tokens=100) == Decimal("0.0045")
    assert upstream_usd(price, input_tokens=1_001, output_tokens=100) == Decimal("0.008256")


def test_cached_tokens_count_into_the_length_and_keep_their_proportion() -> None:
    price = tiered(long_prompt=LONG)
    paid = upstream_usd(
        price,
        input_tokens=100,
        cached_input_tokens=800,
        cache_write_tokens=200,
        output_tokens=10,
    )
    # 100 x 6 + 800 x 0.6 + 200 x 7.5 + 10 x 22.5, a million
    assert paid == Decimal("0.002805")


def test_batch_work_has_its_factor_and_without_one_the_usual_price() -> None:
    def paid(price: Price, *, batch: bool) -> Decimal:
        return upstream_usd(price, input_tokens=1_000, output_tokens=100, batch=batch)

    assert paid(tiered(batch_factor="0.5"), batch=True) == Decimal("0.00225")
    assert paid(tiered(batch_factor="0.5"), batch=False) == Decimal("0.0045")
    assert paid(tiered(), batch=True) == Decimal("0.0045")


def test_what_was_reserved_and_not_used_returns(reference: PolicyDocument) -> None:
    held = reserve(reference.demand, "full", 900, 120)
    assert (held.reserved, held.used, held.refunded) == (Decimal(345), None, Decimal(0))
    ended = settle(reference.demand, held, "full", 900, 20)
    assert [ended.used, ended.refunded, ended.over_cap] == [245, 100, 0]


def test_work_beyond_the_reservation_is_charged_and_shown(reference: PolicyDocument) -> None:
    held = reserve(reference.demand, "full", 900, 120)
    ended = settle(reference.demand, held, "full", 900, 150)
    assert [ended.used, ended.refunded, ended.over_cap] == [375, 0, 30]


def test_crossing_the_cap_stops_and_going_on_is_priced_afresh(reference: PolicyDocument) -> None:
    held = reserve(reference.demand, "full", 900, 120)
    stopped = cross_cap(reference.demand, held, "full", 900, 120, 80)
    assert [stopped.settled.used, stopped.settled.refunded] == [345, 0]
    assert (stopped.input_tokens, stopped.cap_tokens) == (1_020, 80)
    assert stopped.continuation == reserve(reference.demand, "full", 1_020, 80)
    assert stopped.continuation.reserved == 335


def with_cells(*cells: dict[str, Any], **classes: Any) -> PolicyDocument:
    given = changed()
    given["demand"]["cells"] = list(cells)
    for name, keys in classes.items():
        given["classes"][name].update(keys)
    return load_document(given).document


def test_a_padded_cell_multiplies_the_estimate_and_not_what_is_settled() -> None:
    document = with_cells({"route": "full", "input_bucket": "513-4096", "pad": "1.2"})
    assert class_price(document, "short_assistant") == ("full", Decimal("414"))
    assert class_price(document, "long_assistant") == ("full", Decimal("2000"))
    held = reserve(document.demand, "full", 900, 120, Decimal("1.2"))
    assert settle(document.demand, held, "full", 900, 120).refunded == 69


def test_a_disabled_cell_is_priced_at_the_dearest_on_the_conservative_route() -> None:
    document = with_cells({"route": "compact", "disabled": True})
    assert class_price(document, "classification") == ("full", Decimal("144"))


def test_the_first_cell_that_covers_a_shape_speaks() -> None:
    document = with_cells({"route": "full", "pad": "1.5"}, {"route": "full", "disabled": True})
    assert pad_of(document.demand, "full", "0-512", None) == Decimal("1.5")
    assert pad_of(document.demand, "premium", "0-512", None) == 1


def test_an_approved_percentile_is_reserved_in_place_of_the_cap() -> None:
    part = {"output_tokens": 90, "percentile": 0.95, "evidence": "lengths of October"}
    document = with_cells(short_assistant={"reserve": part})
    assert class_price(document, "short_assistant") == ("full", Decimal("315"))


def test_the_policy_card_cuts_its_digits_and_keeps_the_exact_ones(
    reference: PolicyDocument,
) -> None:
    found = card(reference, Decimal("319.8"))
    assert found is not None
    assert (found.card_usd, found.card_reserve_usd) == (
        Decimal("0.00015113"),
        Decimal("0.00000887"),
    )
    assert round(found.reserve_usd, 12) == Decimal("0.000008863873")
    assert found.within
    assert found.attainment == Decimal("0.984")
    assert card(reference, Decimal(0)) is None
    dear = card(reference, Decimal(200))
    assert dear is not None
    assert not dear.within
