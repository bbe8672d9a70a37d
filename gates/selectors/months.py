"""Dollars a month, and what a generation saves against one that is named."""

from dataclasses import dataclass
from decimal import Decimal

from gates.models import DeclaredPoint, Window
from gates.selectors.verdicts import figures, live_window
from orchid.engine.economics import HOURS_PER_MONTH, SECONDS_PER_HOUR, hourly_ledger_usd
from policies.models import Product
from policies.selectors import document_of, revision_by_digest


@dataclass(frozen=True)
class Baseline:
    """Something with a price of a success: a generation that was measured, or a declared point."""

    name: str
    kind: str
    cost_usd: Decimal


@dataclass(frozen=True)
class Months:
    """Of what is live; unknown is None."""

    name: str
    ledger_usd: Decimal
    """A month of the fleet, busy or idle."""
    successes: Decimal | None
    """A month of them, at the rate of the cost window."""
    cost_usd: Decimal | None
    baselines: list[Baseline]
    against: Baseline | None

    @property
    def saved_each_usd(self) -> Decimal | None:
        """Of one success; negative where it costs more than the baseline's."""
        if self.against is None or self.cost_usd is None:
            return None
        return self.against.cost_usd - self.cost_usd

    @property
    def saved_usd(self) -> Decimal | None:
        """What a month's successes would have cost more at the baseline's price of one."""
        each = self.saved_each_usd
        return None if each is None or self.successes is None else each * self.successes


def months(product: Product, baseline: str = "") -> Months | None:
    """The live generation against the baseline of that name, or else the one live before it."""
    window = live_window(product)
    if window is None:
        return None
    measured = figures(product, window.digest)
    some = baselines(product, window.digest)
    rate = measured.success_per_s if measured else None
    return Months(
        _name(product, window.digest),
        hourly_ledger_usd(document_of(window.digest)) * HOURS_PER_MONTH,
        None if rate is None else rate * SECONDS_PER_HOUR * HOURS_PER_MONTH,
        measured.cost_per_success_usd if measured else None,
        some,
        next((one for one in some if one.name == baseline), some[0] if some else None),
    )


def baselines(product: Product, live: str) -> list[Baseline]:
    """What the live generation can be held against, the last one before it first."""
    windows = Window.objects.filter(product=product).exclude(digest=live)
    digests = dict.fromkeys(windows.order_by("-opens_at", "-id").values_list("digest", flat=True))
    found = [(digest, figures(product, digest)) for digest in list(digests)[:10]]
    measured = [
        Baseline(_name(product, digest), "measured", one.cost_per_success_usd)
        for digest, one in found
        if one is not None and one.cost_per_success_usd is not None
    ]
    points = DeclaredPoint.objects.filter(product=product, cost_per_success_usd__isnull=False)
    declared = [
        Baseline(point.name, "declared", point.cost_per_success_usd)
        for point in points.order_by("id")
        if point.cost_per_success_usd is not None
    ]
    return measured + declared


def _name(product: Product, digest: str) -> str:
    return f"Generation {revision_by_digest(product, digest).generation.number}"
