"""Dollars of a generation's own fleet by the hour."""

from decimal import Decimal, localcontext

from orchid.engine.document.model import PolicyDocument

SECONDS_PER_HOUR = Decimal(3600)
#: Digits of a quotient; products and sums of the ledger are exact far below this.
PRECISION = 50
#: A month on pages: 365 days in twelve parts.
HOURS_PER_MONTH = 730


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
