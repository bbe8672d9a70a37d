"""Edges of the model arithmetic; its worked figures are checked through their packet."""

from decimal import Decimal

import pytest

from orchid.engine.arithmetic import (
    cascade_break_even,
    cascade_cost,
    completion_ms,
    prefix_break_even,
)


@pytest.mark.parametrize("tokens", [0, 1])
def test_the_first_token_is_no_decode_step(tokens: int) -> None:
    assert completion_ms(Decimal(900), tokens, Decimal(25)) == 900


def test_a_dearer_write_pays_later_and_a_read_at_full_price_never() -> None:
    assert prefix_break_even(Decimal("1.9"), Decimal("0.1")) == 3
    assert prefix_break_even(Decimal("1.25"), Decimal(1)) is None


def test_at_its_break_even_a_cascade_costs_as_much_as_the_large_model() -> None:
    assert cascade_cost(Decimal("0.1"), cascade_break_even(Decimal("0.1"))) == 1
