"""What tenants used of what they may: now, over the window, and as it would end.

A budget's window is one of fixed windows counted from the epoch, as admission counts them. What was
used is what attempts did (for TEU what was observed, or predicted where nobody observed it); beside
it stands what admission had reserved for the same requests. A window shorter than a step of the
rollups can't be seen by itself: the busiest step stands for it, at its average rate.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from orchid.engine.document.money import CAPS, EVERY_TENANT, Budget
from orchid.engine.economics.statement import work_teu
from orchid.engine.rollup import EXACT, FIGURES, TEU_STEP, Sums

#: Part of a cap from which a tenant is near it.
NEAR = Decimal("0.8")
#: A window this young says nothing of how it ends.
_LEAST_ELAPSED = Decimal("0.05")
_MS = timedelta(milliseconds=1)


class Standing(StrEnum):
    """How a tenant stands to a cap."""

    WITHIN = "within"
    NEAR = "near"
    """At the present rate or already, it reaches 80 % of the cap."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Use:
    """One tenant's use of one cap in one window, in the cap's unit."""

    tenant: str
    cap: str
    window: timedelta
    limit: Decimal
    used: Decimal
    reserved: Decimal | None
    """What admission predicted for the same requests; None where it predicts no such thing."""
    projected: Decimal | None
    """At the end of the window if it goes on like this; None where it has hardly begun."""
    unpriced: int = 0
    """Requests whose dollars are unknown, so that more was spent than is seen."""
    by_busiest_step: bool = False

    @property
    def share(self) -> Decimal | None:
        """Used over the cap; None for a cap of 0."""
        return self.used / self.limit if self.limit else None

    @property
    def standing(self) -> Standing:
        if self.used > self.limit:
            return Standing.OVER
        ahead = max(self.used, self.projected or Decimal(0))
        return Standing.NEAR if ahead >= NEAR * self.limit and ahead else Standing.WITHIN


def window_start(now: datetime, window: timedelta) -> datetime:
    """Where the budget's present window began."""
    return now - (now - datetime(1970, 1, 1, tzinfo=UTC)) % window


def budgets_of(budgets: Iterable[Budget], tenant: str) -> dict[tuple[str, timedelta], Decimal]:
    """The caps that hold for a tenant, by cap and window; its own before those of everybody."""
    found: dict[tuple[str, timedelta], Decimal] = {}
    some = [one for one in budgets if one.tenant in (tenant, EVERY_TENANT)]
    for budget in sorted(some, key=lambda one: one.tenant != EVERY_TENANT):
        window = timedelta(milliseconds=budget.window_ms)
        for cap in CAPS:
            limit = getattr(budget, cap)
            if limit is not None:
                found[cap, window] = Decimal(limit)
    return found


def use_of(
    tenant: str, cap: str, window: timedelta, limit: Decimal, sums: Sums, elapsed: timedelta
) -> Use:
    """How a tenant stands to a cap in a window of which so much is over, from its sums in it."""
    used, part = _used(sums, cap), Decimal(elapsed // _MS) / Decimal(window // _MS)
    projected = used / part if part >= _LEAST_ELAPSED else None
    return Use(
        tenant, cap, window, limit, used, _reserved(sums, cap), projected, _unpriced(sums, cap)
    )


def use_of_steps(
    tenant: str,
    cap: str,
    window: timedelta,
    limit: Decimal,
    steps: Iterable[Sums],
    step: timedelta,
) -> Use:
    """The same for a window shorter than a step: the busiest step at its average rate."""
    busiest = max(steps, key=lambda one: _used(one, cap), default=Sums())
    part = Decimal(window // _MS) / Decimal(step // _MS)
    reserved = _reserved(busiest, cap)
    return Use(
        tenant,
        cap,
        window,
        limit,
        _used(busiest, cap) * part,
        None if reserved is None else reserved * part,
        None,
        _unpriced(busiest, cap),
        by_busiest_step=True,
    )


def _unpriced(sums: Sums, cap: str) -> int:
    return sums.counters["unpriced"] if cap == "max_usd" else 0


def _used(sums: Sums, cap: str) -> Decimal:
    match cap:
        case "max_teu":
            return EXACT.multiply(Decimal(work_teu(sums)), TEU_STEP)
        case "max_usd":
            return sums.cost_usd
        case _:
            return _total(sums, cap.removeprefix("max_")) or Decimal(0)


def _reserved(sums: Sums, cap: str) -> Decimal | None:
    match cap:
        case "max_teu":
            return sums.teu
        case "max_output_tokens" | "max_live_token_ms":
            return _total(sums, f"{cap.removeprefix('max_')}_predicted")
        case _:
            return None


def _total(sums: Sums, name: str) -> Decimal | None:
    figure = sums.figures.get(name)
    return None if figure is None else Decimal(figure.total) / FIGURES[name]
