from decimal import Decimal

import pytest

from orchid.engine.document.money import Price
from orchid.engine.usage import Convention, Usage, convention_of, usage_cost

INCLUDES, EXCLUDES = Convention.INCLUDES_CACHED, Convention.EXCLUDES_CACHED


def _price(**dollars: str) -> Price:
    named = {f"{name}_usd_per_million": Decimal(value) for name, value in dollars.items()}
    return Price.model_validate(named)


HALF_PRICE_CACHE = _price(input="2.50", cached_input="1.25", output="10")
DEAR_WRITES = _price(input="3", cache_write="3.75", output="15")


def test_cached_tokens_are_not_charged_as_plain_input_too() -> None:
    cost = usage_cost(HALF_PRICE_CACHE, Usage(2006, 1920, None, 300, INCLUDES))
    assert cost.usd == Decimal("0.005615")


def test_the_same_figures_beside_the_cached_tokens_cost_more() -> None:
    cost = usage_cost(HALF_PRICE_CACHE, Usage(2006, 1920, None, 300, EXCLUDES))
    assert cost.usd == Decimal("0.010415")


def test_input_that_excludes_what_was_written_to_the_cache() -> None:
    cost = usage_cost(DEAR_WRITES, Usage(3, 0, 12_304, 550, EXCLUDES))
    assert cost.usd == Decimal("0.054399")


def test_without_a_price_a_cost_is_unknown_and_a_price_of_nothing_is_nothing() -> None:
    usage = Usage(10, None, None, 5)
    assert usage_cost(None, usage).usd is None
    assert usage_cost(None, usage).reason == "no_price"
    free = usage_cost(_price(input="0", output="0"), usage)
    assert (free.usd, free.reason) == (Decimal(0), "")


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        (Usage(None, None, None, 5), "no_tokens"),
        (Usage(10, None, None, None), "no_tokens"),
        (Usage(10, 11, None, 5, INCLUDES), "tokens_contradict"),
        (Usage(10, 3, None, 5), "tokens_contradict"),
    ],
)
def test_what_can_not_be_counted_has_no_cost(usage: Usage, reason: str) -> None:
    cost = usage_cost(HALF_PRICE_CACHE, usage)
    assert (cost.usd, cost.reason) == (None, reason)


@pytest.mark.parametrize(
    ("declared", "counts", "follows"),
    [
        (None, (2006, 1920, None), INCLUDES),
        (None, (2006, 2006, 0), INCLUDES),
        (None, (3, 0, 12_304), EXCLUDES),
        (None, (3, 0, 0), INCLUDES),
        (None, (2006, None, None), Convention.UNSAID),
        ("excludes_cached", (2006, 1920, None), EXCLUDES),
        ("excludes_cached", (2006, None, None), EXCLUDES),
        ("includes_cached", (3, 0, 12_304), INCLUDES),
        ("whatever", (2006, 1920, None), INCLUDES),
    ],
)
def test_the_first_rule_that_speaks_says_which_convention_it_is(
    declared: str | None, counts: tuple[int, int | None, int | None], follows: Convention
) -> None:
    assert convention_of(declared, *counts) is follows
