"""Model arithmetic: the few sums behind token counts, decode floors, caches and cascades.

Exact decimals where the inputs are exact, so that a page can print every digit it was given.
Lengths are tokens, times are milliseconds, prices are relative to one plain large-model token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

Number = TypeVar("Number", Decimal, float)
THOUSAND = Decimal(1000)


def tokens_of_text(characters: int, characters_per_token: Decimal) -> int:
    """Tokens of a text at a tokenizer's mean characters a token, to the nearest whole one."""
    return round(characters / characters_per_token)


def decode_floor_ms(parameters: Decimal, bits: int, bytes_per_s: Decimal) -> Decimal:
    """Least time of one decoded token: every weight is read once from memory."""
    return parameters * bits / 8 / bytes_per_s * THOUSAND


def first_token_ms(
    input_tokens: int, prefill_tokens_per_s: Decimal, cached_tokens: int = 0
) -> Decimal:
    """Prefill of what the prefix cache does not hold."""
    return (input_tokens - cached_tokens) / prefill_tokens_per_s * THOUSAND


def completion_ms(first_ms: Decimal, output_tokens: int, decode_ms: Decimal) -> Decimal:
    """The first token comes out of prefill; each further one takes a decode step."""
    return first_ms + max(output_tokens - 1, 0) * decode_ms


def fixed_batch_use(output_tokens: Sequence[int]) -> Decimal:
    """Useful part of a batch whose every slot is held until its longest member ends."""
    return Decimal(sum(output_tokens)) / (max(output_tokens) * len(output_tokens))


@dataclass(frozen=True, slots=True)
class Speculation:
    """Drafting `draft_tokens` that are each accepted with probability `acceptance`.

    Leviathan, Kalman, Matias 2023, "Fast inference from transformers via speculative decoding".
    """

    acceptance: Decimal
    draft_tokens: int

    @property
    def tokens_per_pass(self) -> Decimal:
        """Expected tokens of one pass of the large model: (1 - a^(g+1)) / (1 - a)."""
        return (1 - self.acceptance ** (self.draft_tokens + 1)) / (1 - self.acceptance)

    def speedup(self, draft_cost: Decimal) -> Decimal:
        """Against plain decoding, when a drafted token takes `draft_cost` of a pass."""
        return self.tokens_per_pass / (self.draft_tokens * draft_cost + 1)

    def operations(self, draft_cost: Decimal) -> Decimal:
        """Arithmetic against plain decoding: every draft is checked, accepted or not."""
        return (self.draft_tokens * draft_cost + self.draft_tokens + 1) / self.tokens_per_pass


def prefix_cost(
    prefix_tokens: int, uses: int, write_price: Decimal, read_price: Decimal
) -> Decimal:
    """Cost of a prefix that is written to a cache once and read by every later use."""
    return prefix_tokens * (write_price + (uses - 1) * read_price)


def prefix_break_even(write_price: Decimal, read_price: Decimal) -> int | None:
    """First number of uses at which caching is cheaper; None where it never is."""
    if read_price >= 1:
        return None
    surplus = (write_price - read_price) / (1 - read_price)
    return int(surplus) + 1


def cascade_cost(small_price: Number, escalation: Number) -> Number:
    """Cost of small-first against large-only: every request pays small, escalations also large."""
    return small_price + escalation


def cascade_break_even(small_price: Number) -> Number:
    """Escalation rate from which small-first costs as much as large-only."""
    return 1 - small_price


@dataclass(frozen=True, slots=True)
class Assistant:
    """One kind of request with a stable prefix, priced in large-model input tokens."""

    prefix_tokens: int
    input_tokens: int
    output_tokens: int
    output_weight: Decimal
    small_price: Decimal
    write_price: Decimal
    read_price: Decimal
    hit_rate: Decimal
    escalation: Decimal

    def large_only(self, *, cached: bool) -> Decimal:
        """Every request by the large model."""
        return self._prefix(cached) + self.input_tokens + self.output_weight * self.output_tokens

    def cascade(self, *, cached: bool) -> Decimal:
        """Small first, the escalated part again by the large model."""
        return cascade_cost(self.small_price, self.escalation) * self.large_only(cached=cached)

    def perfect_classifier(self, *, cached: bool) -> Decimal:
        """Upper bound of any router: only what must escalate goes to the large model, at once."""
        mix = self.escalation + (1 - self.escalation) * self.small_price
        return mix * self.large_only(cached=cached)

    def _prefix(self, cached: bool) -> Decimal:
        if not cached:
            return Decimal(self.prefix_tokens)
        price = self.hit_rate * self.read_price + (1 - self.hit_rate) * self.write_price
        return self.prefix_tokens * price


def arrivals_per_minute(requests_a_month: int, days: int = 30) -> Decimal:
    return Decimal(requests_a_month) / (days * 24 * 60)
