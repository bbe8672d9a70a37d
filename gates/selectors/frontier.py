"""Points of quality, latency and cost: measured generations, a proposal, and declared outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gates.models import DeclaredPoint, Window
from gates.selectors.trade import Trade, bounds
from gates.selectors.verdicts import figures, live_window
from orchid.engine.frontier import Point, dominated
from policies.models import Product
from policies.selectors import document_of, generations, revision, revision_by_digest


@dataclass(frozen=True)
class FrontierPoint:
    """A point, whether another beats it on every count, and what is said of it."""

    point: Point
    dominated: bool
    outcome: str


def frontier(
    product: Product, proposed: Trade | Mapping[str, Any] | None = None
) -> list[FrontierPoint]:
    """Every point with at least one figure; the dominated ones stay and are marked."""
    found = [*_measured(product), *_proposed(product, proposed), *_declared(product)]
    beaten = dominated([point for point, _ in found])
    return [FrontierPoint(point, point.name in beaten, outcome) for point, outcome in found]


def bounds_now(product: Product) -> dict[str, str]:
    """The bounds of what is live; of the newest generation where nothing is yet."""
    window = live_window(product)
    if window:
        return bounds(document_of(window.digest))
    return bounds(document_of(revision(generations(product)[0]).digest))


def _measured(product: Product) -> list[tuple[Point, str]]:
    digests = Window.objects.filter(product=product).values_list("digest", flat=True)
    found = []
    for digest in dict.fromkeys(digests.order_by("-opens_at", "-id")):
        measured = figures(product, digest)
        if measured is None:
            continue
        point = Point(
            _name(product, digest),
            measured.utility,
            measured.p95_ms,
            measured.cost_per_success_usd,
            "measured",
        )
        found.append((point, f"under publication {measured.measured_on['publication']}"))
    return found


def _proposed(
    product: Product, proposed: Trade | Mapping[str, Any] | None
) -> list[tuple[Point, str]]:
    """A trade's own prediction; one that was measured is among the measured points already."""
    trade = proposed.as_json() if isinstance(proposed, Trade) else proposed
    if not trade:
        return []
    after = {row["metric"]: row for row in trade["figures"]}
    if any(row["kind"] != "predicted" for row in after.values()):
        return []
    cost = after["cost_per_success_usd"]["after"]
    point = Point(
        f"{_name(product, trade['digest'])}, as predicted",
        _number(after["utility"]["after"]),
        _number(after["completion_p95_ms"]["after"]),
        Decimal(cost) if cost is not None else None,
        "predicted",
    )
    return [(point, "from recorded requests and evidence")]


def _declared(product: Product) -> list[tuple[Point, str]]:
    rows = DeclaredPoint.objects.filter(product=product).order_by("id")
    return [
        (Point(r.name, r.utility, r.p95_ms, r.cost_per_success_usd, "declared"), r.outcome)
        for r in rows
    ]


def _name(product: Product, digest: str) -> str:
    return f"Generation {revision_by_digest(product, digest).generation.number}"


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
