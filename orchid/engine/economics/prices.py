"""What an upstream charges for the tokens of one attempt."""

from decimal import Decimal
from typing import NamedTuple

from orchid.engine.document.money import Price

MILLION = Decimal(1_000_000)


def upstream_usd(
    price: Price,
    *,
    input_tokens: int,
    cached_input_tokens: int = 0,
    cache_write_tokens: int = 0,
    output_tokens: int,
    batch: bool = False,
) -> Decimal:
    """Dollars of one attempt at a priced upstream.

    `input_tokens` are those read at the full price: neither cached nor written to a cache. A tier
    that the price does not name is charged as plain input, never as free. The length that decides
    about the long-prompt tier is the whole prompt, however it was read. `batch` work is deferred to
    the upstream's own queue; without a batch price it costs what any other does.
    """
    prompt = input_tokens + cached_input_tokens + cache_write_tokens
    tier = _tier(price, prompt)
    total = (
        input_tokens * tier.plain
        + cached_input_tokens * tier.cached
        + cache_write_tokens * tier.written
        + output_tokens * tier.output
    ) / MILLION
    return total * price.batch_factor if batch and price.batch_factor is not None else total


class _Tier(NamedTuple):
    """Dollars a million tokens that hold for one whole request."""

    plain: Decimal
    cached: Decimal
    written: Decimal
    output: Decimal


def _tier(price: Price, prompt_tokens: int) -> _Tier:
    plain = price.input_usd_per_million
    cached = price.cached_input_usd_per_million
    written = price.cache_write_usd_per_million
    usual = _Tier(
        plain,
        plain if cached is None else cached,
        plain if written is None else written,
        price.output_usd_per_million,
    )
    long = price.long_prompt
    if long is None or prompt_tokens <= long.above_tokens:
        return usual
    dear = long.input_usd_per_million
    return _Tier(
        dear,
        _raised(usual.cached, plain, dear),
        _raised(usual.written, plain, dear),
        long.output_usd_per_million,
    )


def _raised(tier: Decimal, plain: Decimal, dear: Decimal) -> Decimal:
    """A cache tier of long prompts keeps its proportion to input; without one it is input."""
    return tier * dear / plain if plain else dear
