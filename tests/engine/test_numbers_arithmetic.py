"""Model arithmetic, each row with its stated inputs and digits."""

from decimal import Decimal

import pytest

from orchid.engine.arithmetic import (
    Assistant,
    Speculation,
    arrivals_per_minute,
    cascade_break_even,
    cascade_cost,
    completion_ms,
    decode_floor_ms,
    first_token_ms,
    fixed_batch_use,
    prefix_break_even,
    prefix_cost,
    tokens_of_text,
)


def test_tokens_of_4000_english_characters() -> None:
    many, few = tokens_of_text(4_000, Decimal("3.17")), tokens_of_text(4_000, Decimal("3.94"))
    assert (many, few) == (1_262, 1_015)
    assert round((Decimal(many) / few - 1) * 100) == 24


@pytest.mark.parametrize(("bits", "floor_ms"), [(16, "7.85"), (8, "3.92"), (4, "1.96")])
def test_decode_floor_of_8_billion_parameters(bits: int, floor_ms: str) -> None:
    floor = decode_floor_ms(Decimal(8_000_000_000), bits, Decimal(2_039_000_000_000))
    assert round(floor, 2) == Decimal(floor_ms)


def test_400_tokens_at_the_16_bit_floor() -> None:
    floor = decode_floor_ms(Decimal(8_000_000_000), 16, Decimal(2_039_000_000_000))
    assert round(400 * floor / 1000, 1) == Decimal("3.1")


def test_first_token_of_a_9000_token_prompt() -> None:
    assert first_token_ms(9_000, Decimal(10_000)) == 900
    assert first_token_ms(9_000, Decimal(10_000), cached_tokens=6_000) == 300


def test_the_first_token_is_no_decode_step() -> None:
    assert completion_ms(Decimal(900), 400, Decimal(25)) == 10_875
    assert completion_ms(Decimal(300), 400, Decimal(25)) == 10_275
    assert completion_ms(Decimal(900), 1, Decimal(25)) == 900


def test_a_fixed_batch_idles_until_its_longest_member_ends() -> None:
    assert fixed_batch_use([10, 50, 200, 30]) * 800 == 290
    assert fixed_batch_use([10, 50, 200, 30]) == Decimal("0.3625")


def test_speculative_decoding() -> None:
    draft = Speculation(Decimal("0.8"), 4)
    assert round(draft.tokens_per_pass, 2) == Decimal("3.36")
    assert round(draft.speedup(Decimal("0.05")), 2) == Decimal("2.80")
    assert round(draft.speedup(Decimal("0.2")), 2) == Decimal("1.87")
    assert round(draft.operations(Decimal("0.05")), 2) == Decimal("1.55")


def test_prefix_cache() -> None:
    cached = prefix_cost(6_000, 10, Decimal("1.25"), Decimal("0.1"))
    assert cached == 12_900
    assert round((1 - cached / 60_000) * 100, 1) == Decimal("78.5")
    assert prefix_cost(1, 2, Decimal("1.25"), Decimal("0.1")) == Decimal("1.35")
    assert prefix_break_even(Decimal("1.25"), Decimal("0.1")) == 2
    assert prefix_break_even(Decimal("1.9"), Decimal("0.1")) == 3
    assert prefix_break_even(Decimal("1.25"), Decimal("1")) is None


def test_cascade() -> None:
    assert cascade_cost(Decimal("0.1"), Decimal("0.25")) == Decimal("0.35")
    assert cascade_break_even(Decimal("0.1")) == Decimal("0.9")
    assert cascade_cost(Decimal("0.1"), cascade_break_even(Decimal("0.1"))) == 1


SUPPORT = Assistant(
    prefix_tokens=6_000,
    input_tokens=300,
    output_tokens=250,
    output_weight=Decimal(4),
    small_price=Decimal("0.1"),
    write_price=Decimal("1.25"),
    read_price=Decimal("0.1"),
    hit_rate=Decimal("0.9"),
    escalation=Decimal("0.25"),
)


@pytest.mark.parametrize(
    ("way", "plain", "cached"),
    [
        ("large_only", "7300", "2590"),
        ("cascade", "2555", "906.5"),
        ("perfect_classifier", "2372.5", "841.75"),
    ],
)
def test_support_assistant(way: str, plain: str, cached: str) -> None:
    price = getattr(SUPPORT, way)
    assert price(cached=False) == Decimal(plain)
    assert price(cached=True) == Decimal(cached)


def test_the_large_models_prefix_can_go_cold() -> None:
    arrivals = arrivals_per_minute(1_000_000)
    assert round(arrivals, 1) == Decimal("23.1")
    assert round(arrivals * SUPPORT.escalation, 1) == Decimal("5.8")
