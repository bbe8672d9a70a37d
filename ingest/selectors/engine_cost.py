"""What executions cost by the document: by its prices, else as a share of its fleet's hours."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, localcontext

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.economics import PRECISION, hourly_ledger_usd
from orchid.engine.usage import Usage, usage_cost

#: Below this a fleet's hours over executions say more about the moment than about the fleet.
SHORTEST = timedelta(minutes=1)


@dataclass(frozen=True)
class Summed:
    """Executions of one model and one length of prompt with their summed tokens.

    `usage` is None where an execution told no tokens, or told them in contradiction.
    """

    model: str
    executions: int
    long_prompt: bool
    usage: Usage | None


@dataclass(frozen=True)
class Cost:
    """Dollars of the executions that have a price and told their tokens; the others are apart."""

    usd: Decimal = Decimal(0)
    priced: int = 0
    unknown: int = 0
    unpriced: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.usd + other.usd,
            self.priced + other.priced,
            self.unknown + other.unknown,
            self.unpriced + other.unpriced,
        )


def price_of(document: PolicyDocument | None, route: str, model: str) -> Price | None:
    """The document's price of the route, else of the model by its own name."""
    prices = {} if document is None else document.prices
    return prices.get(route) or prices.get(model)


def cost_of(document: PolicyDocument | None, route: str, told: Iterable[Summed]) -> Cost:
    """The sum at the prices of the document."""
    return sum((_cost(price_of(document, route, one.model), one) for one in told), Cost())


def _cost(price: Price | None, told: Summed) -> Cost:
    if price is None:
        return Cost(unpriced=told.executions)
    # The tier of each single prompt was chosen before the sum, so the sum must not choose again.
    tier = price if told.long_prompt else price.model_copy(update={"long_prompt": None})
    dollars = None if told.usage is None else usage_cost(tier, told.usage).usd
    if dollars is None:
        return Cost(unknown=told.executions)
    return Cost(dollars, told.executions)


@dataclass(frozen=True)
class FleetEstimate:
    """The fleet's hourly dollars over the executions of a stretch: an estimate, busy or idle."""

    usd_per_execution: Decimal
    usd_per_h: Decimal
    seconds: Decimal
    executions: int


def fleet_estimate(
    document: PolicyDocument, executions: int, span: timedelta
) -> FleetEstimate | None:
    """Dollars an hour times the stretch, over its executions; None where that says nothing."""
    if not executions or span < SHORTEST:
        return None
    seconds = Decimal(str(span.total_seconds()))
    with localcontext(prec=PRECISION):
        dollars = hourly_ledger_usd(document) * seconds / 3600
        each = dollars / executions
    return FleetEstimate(each, hourly_ledger_usd(document), seconds, executions)
