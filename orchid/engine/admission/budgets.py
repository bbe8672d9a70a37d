"""What one tenant may use in a window. Windows of one length lie end to end from time zero."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import msgspec

from orchid.engine.admission.route import RoutePolicy
from orchid.engine.document.money import Budget

Unit = Literal["teu", "usd", "output_tokens", "live_token_ms", "external_calls"]
Amount = Decimal | int
EVERYBODY = "*"
TENANTS_REMEMBERED = 100_000


class Cap(msgspec.Struct, frozen=True):
    """The most of one unit in a window."""

    unit: Unit
    window_ms: int
    most: Amount


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What a request counts as, in every unit that a budget may cap."""

    teu: Decimal = Decimal(0)
    usd: Decimal = Decimal(0)
    output_tokens: int = 0
    live_token_ms: int = 0
    external_calls: int = 0

    def of(self, unit: Unit) -> Amount:
        amount: Amount = getattr(self, unit)
        return amount


NOTHING = Usage()


def usage_of(
    served: RoutePolicy,
    teu: Decimal,
    input_tokens: int,
    output_tokens: int,
    held_ms: float,
    external_calls: int,
) -> Usage:
    """What work on a route counts as when its tokens are held for so long."""
    live_token_ms = round((input_tokens + output_tokens) * held_ms)
    usd = served.usd(input_tokens, output_tokens)
    return Usage(teu, usd, output_tokens, live_token_ms, external_calls)


@dataclass(slots=True)
class Account:
    """One tenant's use of one unit in one window: what is spent, what live attempts reserve."""

    spent: Amount = 0
    reserved: Amount = 0

    def fits(self, amount: Amount, most: Amount) -> bool:
        return self.spent + self.reserved + amount <= most


@dataclass(slots=True)
class _Window:
    """The accounts of the present window. Those of an earlier one are gone with it."""

    index: int
    accounts: dict[str, Account] = field(default_factory=dict)


Hold = tuple[Account, Unit, Amount]


@dataclass(slots=True)
class Budgets:
    """All accounts. They follow the tenant, so a new generation doesn't empty them.

    Beyond a hundred thousand tenants in one window the others share one account: a flood of names
    makes budgets tighter, never wider.
    """

    windows: dict[tuple[int, Unit], _Window] = field(default_factory=dict)

    def exhausted(
        self, caps: tuple[Cap, ...], tenant: str, usage: Usage, now_ms: float
    ) -> tuple[Cap, float] | None:
        """The first cap that has no room for the usage, with the milliseconds to its reset."""
        for cap in caps:
            index = int(now_ms // cap.window_ms)
            account = self.account(cap, tenant, index)
            if not (account or Account()).fits(usage.of(cap.unit), cap.most):
                return cap, (index + 1) * cap.window_ms - now_ms
        return None

    def account(self, cap: Cap, tenant: str, index: int) -> Account | None:
        """What the tenant used in that window; None when nothing."""
        window = self.windows.get((cap.window_ms, cap.unit))
        if window is None or window.index != index:
            return None
        found = window.accounts.get(tenant)
        if found is None and len(window.accounts) >= TENANTS_REMEMBERED:
            return window.accounts.get(EVERYBODY)
        return found

    def reserve(
        self, caps: tuple[Cap, ...], tenant: str, usage: Usage, now_ms: float
    ) -> tuple[Hold, ...]:
        """Hold the usage in every account of the tenant, in the window of now."""
        holds = []
        for cap in caps:
            account, amount = self._opened(cap, tenant, now_ms), usage.of(cap.unit)
            account.reserved += amount
            holds.append((account, cap.unit, amount))
        return tuple(holds)

    def _opened(self, cap: Cap, tenant: str, now_ms: float) -> Account:
        key, index = (cap.window_ms, cap.unit), int(now_ms // cap.window_ms)
        window = self.windows.get(key)
        if window is None or window.index != index:
            window = self.windows[key] = _Window(index)
        if tenant not in window.accounts and len(window.accounts) >= TENANTS_REMEMBERED:
            tenant = EVERYBODY
        return window.accounts.setdefault(tenant, Account())


def settle(holds: tuple[Hold, ...], used: Usage) -> None:
    """Turn what an attempt holds into what it used, in the windows that it was reserved in."""
    for account, unit, amount in holds:
        account.reserved -= amount
        account.spent += used.of(unit)


def caps_by_tenant(budgets: Sequence[Budget]) -> tuple[dict[str, tuple[Cap, ...]], tuple[Cap, ...]]:
    """The caps of each tenant that is named, and those of every other.

    A tenant's own cap takes the place of the general one of the same unit and window.
    """
    general: dict[tuple[Unit, int], Cap] = {}
    named: dict[str, dict[tuple[Unit, int], Cap]] = {}
    for budget in budgets:
        if budget.tenant == EVERYBODY:
            general.update(_caps(budget))
    for budget in budgets:
        if budget.tenant != EVERYBODY:
            named.setdefault(budget.tenant, dict(general)).update(_caps(budget))
    return {tenant: tuple(caps.values()) for tenant, caps in named.items()}, tuple(general.values())


def _caps(budget: Budget) -> list[tuple[tuple[Unit, int], Cap]]:
    most: dict[Unit, Amount | None] = {
        "teu": budget.max_teu,
        "usd": budget.max_usd,
        "output_tokens": budget.max_output_tokens,
        "live_token_ms": budget.max_live_token_ms,
        "external_calls": budget.max_external_calls,
    }
    window_ms = budget.window_ms
    return [
        ((unit, window_ms), Cap(unit, window_ms, cap))
        for unit, cap in most.items()
        if cap is not None
    ]
