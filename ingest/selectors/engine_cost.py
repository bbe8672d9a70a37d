"""What executions cost by the document: by its prices, else as a share of its fleet's hours."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, localcontext

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.economics import PRECISION, hourly_ledger_usd, upstream_usd

#: Below this a fleet's hours over executions say more about the moment than about the fleet.
SHORTEST = timedelta(minutes=1)
_EXCLUDES = "excludes_cached"


@dataclass(frozen=True)
class Usage:
    """Executions with one convention and one length of prompt, and their summed tokens."""

    executions: int
    known: bool
    convention: str
    long_prompt: bool
    input_tokens: int
    cached: int
    written: int
    output_tokens: int

    @property
    def plain(self) -> int | None:
        """Input at the full price; None where nobody said if the cached tokens are among it."""
        if self.convention == _EXCLUDES or not (self.cached or self.written):
            return self.input_tokens
        if not self.convention:
            return None
        return max(0, self.input_tokens - self.cached - self.written)


@dataclass(frozen=True)
class Cost:
    """Dollars of the priced executions; those without a price or without tokens are apart."""

    usd: Decimal = Decimal(0)
    priced: int = 0
    unknown: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.usd + other.usd, self.priced + other.priced, self.unknown + other.unknown)


@dataclass(frozen=True)
class FleetEstimate:
    """The fleet's hourly dollars over the executions of a stretch: an estimate, busy or idle."""

    usd_per_execution: Decimal
    usd_per_h: Decimal
    seconds: Decimal
    executions: int


def cost_of(price: Price | None, usages: Sequence[Usage]) -> Cost:
    """The sum at an upstream's price; without one each execution's cost is unknown here."""
    return sum((_cost(price, usage) for usage in usages), Cost())


def _cost(price: Price | None, usage: Usage) -> Cost:
    plain = usage.plain
    if price is None or not usage.known or plain is None:
        return Cost(unknown=usage.executions)
    # The tier of each single prompt was chosen before the sum, so the sum must not choose again.
    tier = price if usage.long_prompt else price.model_copy(update={"long_prompt": None})
    dollars = upstream_usd(
        tier,
        input_tokens=plain,
        cached_input_tokens=usage.cached,
        cache_write_tokens=usage.written,
        output_tokens=usage.output_tokens,
    )
    return Cost(dollars, usage.executions)


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
