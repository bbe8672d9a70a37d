"""What one tenant may use in a window. Windows of one length lie end to end from time zero."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from orchid.engine.document.money import Budget

Unit = Literal["teu", "usd", "output_tokens"]
Usage = dict[Unit, Decimal]


@dataclass(slots=True)
class Account:
    """One cap in one window: what is spent, and what live attempts have reserved."""

    window: int
    spent: Decimal = Decimal(0)
    reserved: dict[str, Decimal] = field(default_factory=dict)

    def fits(self, amount: Decimal, cap: Decimal) -> bool:
        return self.spent + sum(self.reserved.values(), Decimal(0)) + amount <= cap


@dataclass(slots=True)
class Budgets:
    """All accounts. They follow the tenant, so a new generation doesn't empty them."""

    accounts: dict[tuple[str, int, Unit], Account] = field(default_factory=dict)

    def exhausted(
        self, budgets: tuple[Budget, ...], tenant: str, usage: Usage, now_ms: float
    ) -> tuple[Budget, float] | None:
        """The first budget that has no room for the usage, with the milliseconds to its reset."""
        for budget, unit, cap in _caps(budgets, tenant):
            window = int(now_ms // budget.window_ms)
            account = self.accounts.get((tenant, budget.window_ms, unit))
            if account is None or account.window != window:
                account = Account(window)
            if not account.fits(usage[unit], cap):
                return budget, (window + 1) * budget.window_ms - now_ms
        return None

    def reserve(
        self,
        budgets: tuple[Budget, ...],
        tenant: str,
        attempt_id: str,
        usage: Usage,
        now_ms: float,
    ) -> None:
        """Hold the usage in every account of the tenant, in the window of now."""
        for budget, unit, _ in _caps(budgets, tenant):
            key, window = (tenant, budget.window_ms, unit), int(now_ms // budget.window_ms)
            account = self.accounts.get(key)
            if account is None or account.window != window:
                account = self.accounts[key] = Account(window)
            account.reserved[attempt_id] = usage[unit]

    def settle(self, tenant: str, attempt_id: str, used: Usage) -> None:
        """Turn what the attempt holds into what it used; a window that is over has no account."""
        for (owner, _, unit), account in self.accounts.items():
            if owner == tenant and account.reserved.pop(attempt_id, None) is not None:
                account.spent += used[unit]


def _caps(budgets: tuple[Budget, ...], tenant: str) -> Iterator[tuple[Budget, Unit, Decimal]]:
    for budget in budgets:
        if budget.tenant != tenant:
            continue
        if budget.max_teu is not None:
            yield budget, "teu", budget.max_teu
        if budget.max_usd is not None:
            yield budget, "usd", budget.max_usd
        if budget.max_output_tokens is not None:
            yield budget, "output_tokens", Decimal(budget.max_output_tokens)
