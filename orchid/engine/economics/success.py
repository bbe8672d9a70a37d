"""Dollars over successful responses, in exact decimals."""

from decimal import Decimal, localcontext

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics.hourly import PRECISION, SECONDS_PER_HOUR, hourly_ledger_usd


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
