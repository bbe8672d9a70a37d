"""What one tenant may use in a window. Windows of one length lie end to end from time zero.

TEU are counted in whole atoms, so small that every product of a factor, a weight and a pad of a
document is a whole number of them: sums are exact, and whole numbers are quick.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext

import msgspec

from orchid.engine.document.money import EVERY_TENANT, Budget
from orchid.engine.document.values import decimal_text

TENANTS_REMEMBERED = 100_000
ATOMS = 10**54  # a TEU; each of three declared decimals has at most 18 places
DIGITS = 200  # more than any number of atoms that a document can ask for


def atoms(teu: Decimal, *factors: Decimal) -> int:
    """Whole atoms of a TEU figure times some factors; exact for up to three declared decimals."""
    with localcontext(prec=DIGITS):
        return int(math.prod(factors, start=teu) * ATOMS)


def teu_text(count: int) -> str:
    """Atoms as TEU, for people."""
    with localcontext(prec=DIGITS):
        return decimal_text(Decimal(count) / ATOMS)


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What work counts as, in every unit that a budget may cap."""

    teu: int = 0  # in atoms
    usd: Decimal = Decimal(0)
    output_tokens: int = 0
    live_token_ms: int = 0
    external_calls: int = 0


NOTHING = Usage()
Unit = str
UNITS: tuple[Unit, ...] = Usage.__struct_fields__


class Caps(msgspec.Struct, frozen=True):
    """The most of each unit in one window; None where it is not capped. TEU are in atoms."""

    window_ms: int
    teu: int | None = None
    usd: Decimal | None = None
    output_tokens: int | None = None
    live_token_ms: int | Decimal | None = None
    external_calls: int | None = None


@dataclass(slots=True)
class Account:
    """What one tenant has taken in one window: what was used, and what live attempts reserve."""

    teu: int = 0  # in atoms
    usd: Decimal = Decimal(0)
    output_tokens: int = 0
    live_token_ms: int = 0
    external_calls: int = 0

    def add(self, usage: Usage) -> None:
        self.teu += usage.teu
        if usage.usd:
            self.usd += usage.usd
        self.output_tokens += usage.output_tokens
        self.live_token_ms += usage.live_token_ms
        self.external_calls += usage.external_calls

    def replace(self, before: Usage, after: Usage) -> None:
        """Turn what was reserved into what was used."""
        self.teu += after.teu - before.teu
        if before.usd or after.usd:
            self.usd += after.usd - before.usd
        self.output_tokens += after.output_tokens - before.output_tokens
        self.live_token_ms += after.live_token_ms - before.live_token_ms
        self.external_calls += after.external_calls - before.external_calls

    def fits(self, usage: Usage, caps: Caps) -> bool:
        """Whether so much more stays within every cap; reaching one exactly is within."""
        return (
            (caps.teu is None or self.teu + usage.teu <= caps.teu)
            and (caps.usd is None or self.usd + usage.usd <= caps.usd)
            and (
                caps.output_tokens is None
                or self.output_tokens + usage.output_tokens <= caps.output_tokens
            )
            and (
                caps.live_token_ms is None
                or self.live_token_ms + usage.live_token_ms <= caps.live_token_ms
            )
            and (
                caps.external_calls is None
                or self.external_calls + usage.external_calls <= caps.external_calls
            )
        )


EMPTY = Account()  # of a tenant that has taken nothing; never written to


@dataclass(slots=True)
class Window:
    """The accounts of the present window. Those of an earlier one are gone with it."""

    begins_ms: float
    ends_ms: float
    accounts: dict[str, Account] = field(default_factory=dict)


@dataclass(slots=True)
class Budgets:
    """All accounts, by length of window. They follow the tenant, whatever the generation.

    Beyond a hundred thousand tenants in one window the others share one account: a flood of names
    makes budgets tighter, never wider.
    """

    windows: dict[int, Window] = field(default_factory=dict)

    def exhausted(
        self, caps: Iterable[Caps], tenant: str, usage: Usage, now_ms: float
    ) -> float | None:
        """Milliseconds to the reset of the first window without room; None when all have some."""
        for each in caps:
            if not self.account(each.window_ms, tenant, now_ms).fits(usage, each):
                return (now_ms // each.window_ms + 1) * each.window_ms - now_ms
        return None

    def account(self, window_ms: int, tenant: str, now_ms: float) -> Account:
        """What the tenant has taken in the window of now; not to be written to."""
        window = self.windows.get(window_ms)
        if window is None or not window.begins_ms <= now_ms < window.ends_ms:
            return EMPTY
        found = window.accounts.get(tenant)
        if found is None and len(window.accounts) >= TENANTS_REMEMBERED:
            found = window.accounts.get(EVERY_TENANT)
        return found or EMPTY

    def reserve(
        self, caps: Iterable[Caps], tenant: str, usage: Usage, now_ms: float
    ) -> tuple[Account, ...]:
        """Take the usage from every window of now; the accounts that it was taken from."""
        accounts = [self._opened(each.window_ms, tenant, now_ms) for each in caps]
        for account in accounts:
            account.add(usage)
        return tuple(accounts)

    def _opened(self, window_ms: int, tenant: str, now_ms: float) -> Account:
        window = self.windows.get(window_ms)
        if window is None or not window.begins_ms <= now_ms < window.ends_ms:
            begins_ms = now_ms // window_ms * window_ms
            window = self.windows[window_ms] = Window(begins_ms, begins_ms + window_ms)
        found = window.accounts.get(tenant)
        if found is None:
            if len(window.accounts) >= TENANTS_REMEMBERED:
                tenant = EVERY_TENANT
            found = window.accounts.setdefault(tenant, Account())
        return found


def caps_by_tenant(
    budgets: Sequence[Budget],
) -> tuple[dict[str, tuple[Caps, ...]], tuple[Caps, ...]]:
    """The caps of each tenant that is named, and those of every other.

    A tenant's own cap takes the place of the general one of the same unit and window.
    """
    general = _merged(budget for budget in budgets if budget.tenant == EVERY_TENANT)
    named = {budget.tenant for budget in budgets} - {EVERY_TENANT}
    own = {tenant: _merged((b for b in budgets if b.tenant == tenant), general) for tenant in named}
    return {tenant: tuple(caps.values()) for tenant, caps in own.items()}, tuple(general.values())


def _merged(budgets: Iterable[Budget], under: dict[int, Caps] | None = None) -> dict[int, Caps]:
    """By window, what the budgets cap; what they leave open is as it was in `under`."""
    found = dict(under or {})
    for budget in budgets:
        given = {
            "teu": None if budget.max_teu is None else atoms(budget.max_teu),
            "usd": budget.max_usd,
            "output_tokens": budget.max_output_tokens,
            "live_token_ms": budget.max_live_token_ms,
            "external_calls": budget.max_external_calls,
        }
        capped = {unit: most for unit, most in given.items() if most is not None}
        before = found.get(budget.window_ms, Caps(budget.window_ms))
        found[budget.window_ms] = msgspec.structs.replace(before, **capped)
    return found
