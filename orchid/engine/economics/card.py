"""The policy card: the price of a success at a steady rate."""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics.success import attainment, steady_cost_per_success_usd
from orchid.engine.pricing import offered_requests_per_s


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
