"""Findings about shares and budgets: who gets what of the fleet."""

from collections.abc import Mapping

from orchid.engine.document.demand import OPTIONAL_PURPOSES
from orchid.engine.document.errors import pointer_of
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.limits import ShareNode
from orchid.engine.document.money import CAPS, EVERY_TENANT
from orchid.engine.document.values import duration_text, figure

SHORT_WINDOW_MS = 60_000
#: Work without a claim in overload.
UNCLAIMED = OPTIONAL_PURPOSES | {"background"}

Level = tuple[tuple[str, ...], Mapping[str, ShareNode]]


def _levels(subject: Subject) -> list[Level]:
    """Every level of the tree with its place, the root first."""
    found: list[Level] = [(("admission", "shares"), subject.document.admission.shares)]
    for path, nodes in found:
        found += [
            ((*path, name, "children"), n.children) for name, n in nodes.items() if n.children
        ]
    return found


def shares_over_parent(subject: Subject) -> Told:
    for path, nodes in _levels(subject):
        total = sum(node.guaranteed for node in nodes.values())
        if total > 1 + 1e-9:
            parts = " + ".join(f"{name} {node.guaranteed}" for name, node in nodes.items())
            yield pointer_of(path), f"{parts} = {total:.4g} of the parent, over 1"


def share_over_ceiling(subject: Subject) -> Told:
    for path, nodes in _levels(subject):
        for name, node in nodes.items():
            if node.guaranteed > node.ceiling:
                yield (
                    pointer_of((*path, name)),
                    f"guaranteed {node.guaranteed} is over its own ceiling {node.ceiling}",
                )


def background_guaranteed(subject: Subject) -> Told:
    for path, nodes in _levels(subject):
        for name, node in nodes.items():
            if name.rsplit("/", 1)[-1] in UNCLAIMED and node.guaranteed > 0:
                yield (
                    pointer_of((*path, name)),
                    f"{name} is guaranteed {node.guaranteed} of its parent, even in overload",
                )


def budget_long_window_only(subject: Subject) -> Told:
    """A daily cap alone lets one burst take the cache of everybody."""
    budgets = subject.document.budgets
    short = {budget.tenant for budget in budgets if budget.window_ms <= SHORT_WINDOW_MS}
    for i, budget in enumerate(budgets):
        if not short & {budget.tenant, EVERY_TENANT}:
            who = "each tenant" if budget.tenant == EVERY_TENANT else budget.tenant
            yield f"/budgets/{i}", f"{who} has no cap on a window of a minute or less"


def ambiguous_budgets(subject: Subject) -> Told:
    """One cap of a tenant and window is said once."""
    first: dict[tuple[str, int, str], int] = {}
    for i, budget in enumerate(subject.document.budgets):
        for cap in CAPS:
            key = (budget.tenant, budget.window_ms, cap)
            if getattr(budget, cap) is not None and first.setdefault(key, i) != i:
                yield (
                    f"/budgets/{i}/{cap}",
                    f"{budget.tenant} has {getattr(budget, cap)} here and "
                    f"{getattr(subject.document.budgets[first[key]], cap)} in "
                    f"/budgets/{first[key]} for {duration_text(budget.window_ms)}",
                )


def budget_under_request(subject: Subject) -> Told:
    document = subject.document
    prices = {name: subject.teu(name) for name in document.classes}
    for i, budget in enumerate(document.budgets):
        over = [name for name, price in prices.items() if (budget.max_teu or price) < price]
        if over:
            yield (
                f"/budgets/{i}/max_teu",
                f"{figure(budget.max_teu or 0)} TEU, but one {names(over)} is "
                f"{figure(max(prices[name] for name in over))}: never admitted for "
                f"{budget.tenant}",
            )
