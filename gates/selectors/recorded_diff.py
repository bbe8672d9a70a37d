"""What another document would have decided, as pages and machines read it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from controlplane.errors import NotFound
from gates.models import DecisionDiff
from policies.models import Product


def decision_diffs(product: Product) -> QuerySet[DecisionDiff]:
    """Every one that was asked; page them newest first by (asked_at, id)."""
    return DecisionDiff.objects.filter(product=product)


def decision_diff_for(product: Product, base_digest: str, digest: str) -> DecisionDiff | None:
    """The newest that was asked of these two documents."""
    pair = decision_diffs(product).filter(base_digest=base_digest, digest=digest)
    return pair.order_by("-id").first()


def decision_diff_of(product: Product, pk: int) -> DecisionDiff:
    """One diff of the product; raises NotFound."""
    row = decision_diffs(product).filter(pk=pk).first()
    if row is None:
        raise NotFound("not_found", f"{product.slug} has no decision diff {pk}.")
    return row


@dataclass(frozen=True)
class Part:
    """A segment's or a tenant's requests, and how many of them are decided differently."""

    name: str
    n: int
    changed: int

    @property
    def share(self) -> float:
        return self.changed / self.n if self.n else 0.0


@dataclass(frozen=True)
class Turned:
    """How many requests each document answers by one action."""

    action: str
    before: int
    after: int


@dataclass(frozen=True)
class Shown:
    """A diff as its page reads it; the lists are empty until it is done."""

    row: DecisionDiff
    actions: list[Turned]
    pairs: list[dict[str, Any]]
    segments: list[Part]
    tenants: list[Part]
    examples: list[dict[str, Any]]

    @property
    def changed_action(self) -> int:
        """Of those that changed, the ones with another action; others change route or reason."""
        return int(self.row.content.get("changed_action", 0))

    @property
    def p95_ms(self) -> tuple[float | None, float | None]:
        """What admission predicts of completion, by each document."""
        sides = (self.row.content.get(side, {}) for side in ("before", "after"))
        before, after = (side.get("predicted_completion_p95_ms") for side in sides)
        return before, after


def shown(row: DecisionDiff) -> Shown:
    content = row.content
    return Shown(
        row=row,
        actions=_actions(content.get("before", {}), content.get("after", {})),
        pairs=content.get("pairs", []),
        segments=_parts(content.get("segments", []), "key"),
        tenants=_parts(content.get("tenants", []), "tenant"),
        examples=content.get("examples", []),
    )


def _actions(before: dict[str, Any], after: dict[str, Any]) -> list[Turned]:
    old, new = before.get("by_action", {}), after.get("by_action", {})
    return [Turned(name, old.get(name, 0), new.get(name, 0)) for name in sorted({*old, *new})]


def _parts(found: Iterable[dict[str, Any]], name: str) -> list[Part]:
    return [Part(one[name], one["n"], one["changed"]) for one in found]
