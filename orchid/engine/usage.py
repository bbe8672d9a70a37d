"""Tokens of one call as its teller counted them, and what they cost.

Two conventions are about. OpenTelemetry's text and most vendors count every token of the prompt as
input, those read from a cache or written to one among them. Others count as input only what no
cache had a part in. The same call differs by a factor between them, so a record carries which one
it follows, and the parts are worked out here alone.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from orchid.engine.document.money import Price
from orchid.engine.economics import upstream_usd


class Convention(StrEnum):
    """How the input tokens of a record are counted. UNSAID where no cached tokens were told of."""

    UNSAID = ""
    INCLUDES_CACHED = "includes_cached"
    EXCLUDES_CACHED = "excludes_cached"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as they were told; None is unknown, which is not 0."""

    input_tokens: int | None
    cached_input_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    convention: Convention = Convention.UNSAID

    @property
    def plain_input_tokens(self) -> int | None:
        """Input that no cache had a part in; None where it is unknown or the parts exceed it."""
        beside = (self.cached_input_tokens or 0) + (self.cache_write_tokens or 0)
        if self.input_tokens is None or self.convention is Convention.EXCLUDES_CACHED or not beside:
            return self.input_tokens
        rest = self.input_tokens - beside
        return rest if rest >= 0 and self.convention is Convention.INCLUDES_CACHED else None


def convention_of(
    declared: str | None,
    input_tokens: int | None,
    cached_input_tokens: int | None,
    cache_write_tokens: int | None,
) -> Convention:
    """Which convention a record follows, by the first rule that speaks.

    1. What the teller declares.
    2. More tokens cached and written than input in all: input can't include them.
    3. OpenTelemetry's text: input includes both.
    """
    if declared in (Convention.INCLUDES_CACHED, Convention.EXCLUDES_CACHED):
        return Convention(declared)
    if cached_input_tokens is None and cache_write_tokens is None:
        return Convention.UNSAID
    beside = (cached_input_tokens or 0) + (cache_write_tokens or 0)
    if input_tokens is not None and beside > input_tokens:
        return Convention.EXCLUDES_CACHED
    return Convention.INCLUDES_CACHED


@dataclass(frozen=True, slots=True)
class CallCost:
    """Dollars of one call, or None and the reason: an unknown cost is never 0."""

    usd: Decimal | None
    reason: str = ""


def usage_cost(price: Price | None, usage: Usage) -> CallCost:
    """What a call costs at a price; unknown without a price or without its tokens.

    A price of 0 is a price.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return CallCost(None, "no_tokens")
    if price is None:
        return CallCost(None, "no_price")
    plain = usage.plain_input_tokens
    if plain is None:
        return CallCost(None, "tokens_contradict")
    return CallCost(
        upstream_usd(
            price,
            input_tokens=plain,
            cached_input_tokens=usage.cached_input_tokens or 0,
            cache_write_tokens=usage.cache_write_tokens or 0,
            output_tokens=usage.output_tokens,
        )
    )
