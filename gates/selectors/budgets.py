"""What tenants used of the live document's budgets."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from gates.selectors.periods import counted_until
from gates.selectors.verdicts import live_window
from ingest.selectors import CellInTime, tenants_in_time
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import EVERY_TENANT
from orchid.engine.economics.budgets import (
    Standing,
    Use,
    budgets_of,
    use_of,
    use_of_steps,
    window_start,
)
from orchid.engine.rollup import Sums
from policies.models import Product
from policies.selectors import document_of

#: The tenants that keep no name of their own in rollups, together: no cap is theirs.
OTHER = "other"
#: How far back the busiest step is looked for.
_LOOK_BACK_STEPS = 10
#: Long windows are summed by days, and those of the days.
_LONG = timedelta(days=1)
_GRAVITY = [Standing.OVER, Standing.NEAR, Standing.WITHIN]

Steps = dict[datetime, dict[str, Sums]]


@dataclass(frozen=True)
class Budgets:
    """Every cap of every tenant that has any use or a budget of its own, worst first."""

    at: datetime
    uses: list[Use]
    step_s: int
    unseen: bool
    """Some tenants are only counted together, as `other`."""

    def counts(self) -> Counter[Standing]:
        return Counter(use.standing for use in self.uses)


def budgets(product: Product, now: datetime) -> Budgets | None:
    """How tenants stand to the live document's budgets; None before anything is live."""
    window = live_window(product)
    if window is None:
        return None
    document, end = document_of(window.digest), counted_until(product, window, now)
    step = timedelta(seconds=document.gates.step_s)
    long = {
        span: _used(product, window_start(end, span), end)
        for span in _spans(document)
        if span >= step
    }
    short = tenants_in_time(product, end - _LOOK_BACK_STEPS * step, end, step)
    steps: Steps = {at: _by_tenant(c for c in short if c.at == at) for at in {c.at for c in short}}
    seen = {name for some in (*long.values(), *steps.values()) for name in some}
    uses = list(_uses(document, seen - {OTHER, ""}, long, steps, end))
    return Budgets(end, sorted(uses, key=_gravity), document.gates.step_s, OTHER in seen)


def _uses(
    document: PolicyDocument,
    seen: set[str],
    long: dict[timedelta, dict[str, Sums]],
    steps: Steps,
    end: datetime,
) -> Iterator[Use]:
    step = timedelta(seconds=document.gates.step_s)
    named = {budget.tenant for budget in document.budgets} - {EVERY_TENANT}
    for tenant in sorted(seen | named):
        for (cap, span), limit in budgets_of(document.budgets, tenant).items():
            if span < step:
                some = [one[tenant] for one in steps.values() if tenant in one]
                yield use_of_steps(tenant, cap, span, limit, some, step)
            else:
                sums, elapsed = long[span].get(tenant, Sums()), end - window_start(end, span)
                yield use_of(tenant, cap, span, limit, sums, elapsed)


def _spans(document: PolicyDocument) -> set[timedelta]:
    return {timedelta(milliseconds=budget.window_ms) for budget in document.budgets}


def _used(product: Product, start: datetime, end: datetime) -> dict[str, Sums]:
    return _by_tenant(tenants_in_time(product, start, end, _LONG))


def _by_tenant(cells: Iterable[CellInTime]) -> dict[str, Sums]:
    found: dict[str, Sums] = defaultdict(Sums)
    for cell in cells:
        found[cell.name.tenant].merge(cell.sums)
    return dict(found)


def _gravity(use: Use) -> tuple[int, float, str, str]:
    return _GRAVITY.index(use.standing), -float(use.share or 0), use.tenant, use.cap
