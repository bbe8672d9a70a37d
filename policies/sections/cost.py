"""What the fleet costs an hour, and a success at a rate of successes."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine import economics
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import offered_requests_per_s

#: More successes a second than anything here serves.
MOST_PER_S = Decimal(10_000_000)


def ledger_table(document: PolicyDocument) -> Table:
    """Dollars an hour, line by line; the sum is the ledger that gates divide by successes."""
    declared = document.fleet
    devices = economics.device_usd_per_h(document)
    each = f"{declared.devices} × {figures.usd(declared.device_usd_per_h)}"
    return Table(
        "Hourly ledger",
        [Column("Line"), Column("Basis"), Column("An hour", numeric=True)],
        [
            ("Devices", each, figures.ledger_usd(devices)),
            ("Overhead", "allocated by policy", figures.ledger_usd(declared.overhead_usd_per_h)),
            ("Together", "", figures.ledger_usd(economics.hourly_ledger_usd(document))),
        ],
    )


@dataclass(frozen=True)
class CostCard:
    """The price of a success at a rate; `card` is None where the rate gives none."""

    successes_per_s: str
    problem: str
    card: economics.Card | None
    bound_usd: Decimal
    hourly_usd: Decimal

    @property
    def cost(self) -> str:
        return figures.UNKNOWN if self.card is None else figures.usd(self.card.card_usd)

    @property
    def reserve(self) -> str:
        return figures.UNKNOWN if self.card is None else _exact(self.card.reserve_usd)

    @property
    def exactly(self) -> str:
        return figures.UNKNOWN if self.card is None else _exact(self.card.cost_usd)


def cost_card(document: PolicyDocument, at: str) -> CostCard:
    """At the asked rate, or at what the attainment gate asks of the declared arrivals."""
    least = Decimal(str(document.gates.attainment.min)) * offered_requests_per_s(document)
    rate, problem = (least, "") if not at.strip() else _rate(at.strip())
    return CostCard(
        successes_per_s=at.strip() if problem else figures.shortest(rate).replace(",", ""),
        problem=problem,
        card=None if problem else economics.card(document, rate),
        bound_usd=document.gates.cost_per_success_usd.max,
        hourly_usd=economics.hourly_ledger_usd(document),
    )


def _rate(text: str) -> tuple[Decimal, str]:
    try:
        rate = Decimal(text) if len(text) < 24 and text.isascii() else Decimal("NaN")
    except InvalidOperation:
        rate = Decimal("NaN")
    if rate.is_finite() and 0 < rate <= MOST_PER_S:
        return rate, ""
    return Decimal(), f"a rate is a number over 0, at most {MOST_PER_S:,}"


def _exact(usd: Decimal) -> str:
    """A quotient that never ends, with twelve decimals of it."""
    text = figures.decimals(usd, 12, Decimal())
    return f"−${text[1:]}" if text.startswith("−") else f"${text}"
