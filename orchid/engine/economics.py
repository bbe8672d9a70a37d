"""Dollars of the fleet over successful responses, in exact decimals."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, localcontext
from typing import NamedTuple

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.pricing import offered_requests_per_s

SECONDS_PER_HOUR = Decimal(3600)
#: Digits of a quotient; products and sums of the ledger are exact far below this.
PRECISION = 50
MILLION = Decimal(1_000_000)


def device_usd_per_h(document: PolicyDocument) -> Decimal:
    """All devices, busy or idle."""
    return document.fleet.devices * document.fleet.device_usd_per_h


def hourly_ledger_usd(document: PolicyDocument) -> Decimal:
    """Devices and overhead (hosts, storage, network, control, validation, observability)."""
    return device_usd_per_h(document) + document.fleet.overhead_usd_per_h


def ledger_usd_between(document: PolicyDocument, seconds: Decimal) -> Decimal:
    """Dollars of the generation's own fleet over a stretch of time."""
    with localcontext(prec=PRECISION):
        return hourly_ledger_usd(document) * seconds / SECONDS_PER_HOUR


def cost_per_success_usd(dollars: Decimal, successes: int) -> Decimal | None:
    """None without a success: the money is then spent for nothing, which is no price."""
    if successes <= 0:
        return None
    with localcontext(prec=PRECISION):
        return dollars / successes


def exceeds(dollars: Decimal, successes: int, bound_usd: Decimal) -> bool:
    """Whether the cost per success is over the bound, without a division: equality is within."""
    return dollars > bound_usd * successes


def successes_per_h(successes_per_s: Decimal) -> Decimal:
    return successes_per_s * SECONDS_PER_HOUR


def steady_cost_per_success_usd(
    document: PolicyDocument, successes_per_s: Decimal
) -> Decimal | None:
    """The hourly ledger over the successes of an hour at a steady rate."""
    if successes_per_s <= 0:
        return None
    with localcontext(prec=PRECISION):
        return hourly_ledger_usd(document) / successes_per_h(successes_per_s)


def attainment(successes: Decimal, eligible_offered: Decimal) -> Decimal | None:
    """Successes over eligible offered requests; None when nothing was offered."""
    return successes / eligible_offered if eligible_offered else None


def card_usd(cost_usd: Decimal) -> Decimal:
    """The policy card's figure: truncated to eight decimals, so that it never rounds up a cost."""
    return cost_usd.quantize(Decimal("0.00000001"), rounding=ROUND_DOWN)


def reserve_usd(cost_usd: Decimal, bound_usd: Decimal) -> Decimal:
    """What is left to the bound; negative when the cost is over it."""
    return bound_usd - cost_usd


@dataclass(frozen=True, slots=True)
class Card:
    """The price of a success at a steady rate, as the policy card shows it and exactly."""

    successes_per_s: Decimal
    cost_usd: Decimal
    card_usd: Decimal
    reserve_usd: Decimal
    card_reserve_usd: Decimal
    attainment: Decimal | None

    @property
    def within(self) -> bool:
        return self.reserve_usd >= 0


def card(document: PolicyDocument, successes_per_s: Decimal) -> Card | None:
    """What a success costs at this rate, and the reserve to the gate; None without successes."""
    cost = steady_cost_per_success_usd(document, successes_per_s)
    if cost is None:
        return None
    bound = document.gates.cost_per_success_usd.max
    shown = card_usd(cost)
    return Card(
        successes_per_s=successes_per_s,
        cost_usd=cost,
        card_usd=shown,
        reserve_usd=reserve_usd(cost, bound),
        card_reserve_usd=reserve_usd(shown, bound),
        attainment=attainment(successes_per_s, offered_requests_per_s(document)),
    )


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
