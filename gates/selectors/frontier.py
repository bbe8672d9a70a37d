"""Points of quality, latency and cost: measured generations, predictions, and declared outcomes.

A frontier is of one part of the traffic under one load, and no figure is averaged over conditions:
what speaks for the whole is left out of a segment's picture, and a trial of the selected policy
under stress is a point of that stress alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gates.models import DeclaredPoint
from gates.selectors.measured_points import Measured, measured
from gates.selectors.trade import Trade, bounds, predicted
from gates.selectors.verdicts import live_window
from gates.states import Metric
from orchid.engine.document.model import PolicyDocument
from orchid.engine.frontier import Beaten, Point, beaten
from orchid.engine.segments import LOAD_STATE, Where, where_key
from orchid.engine.verdict.gates import Scope, least_utility, scopes
from policies.models import Product
from policies.selectors import document_of, generations, revision, revision_by_digest

#: Drafts that are shown beside what ran, the newest first.
DRAFTS = 2

Bounds = Mapping[str, str]


@dataclass(frozen=True)
class FrontierPoint:
    """A point, what beats it on every count, and what is said of it."""

    point: Point
    beaten: Beaten | None
    outcome: str
    is_selected: bool = False

    @property
    def dominated(self) -> bool:
        return self.beaten is not None


@dataclass(frozen=True)
class Choice:
    """A segment or a load state that a frontier can be asked for."""

    key: str
    label: str


@dataclass(frozen=True)
class Frontier:
    """The frontier of one segment under one load, and what else can be asked for."""

    segment: str
    load: str
    bounds: Bounds
    points: list[FrontierPoint]
    trials: list[FrontierPoint]
    segments: list[Choice]
    loads: list[Choice]


_Told = tuple[Point, str, bool]


def frontier(
    product: Product, proposed: Trade | Mapping[str, Any] | None = None
) -> list[FrontierPoint]:
    """Of the whole, every point with at least one figure; dominated ones stay and are marked."""
    return _compared(
        [*_measured(measured(product), {}), *_proposed(product, proposed), *_declared(product, "")]
    )


def frontier_of(product: Product, segment: str = "", load: str = "") -> Frontier:
    """The frontier of a segment by its key and of a load state; what is unknown is the whole."""
    document = document_of(_digest_now(product))
    parts = {where_key(scope.where): scope for scope in scopes(document)}
    scope = parts.get(segment) or parts[""]
    generations_seen = measured(product)
    loads = _loads(product, generations_seen)
    load = load if load in {choice.key for choice in loads} else ""
    where = {**scope.where, **({LOAD_STATE: load} if load else {})}
    told = _measured(generations_seen, where)
    if not scope.where:
        told += [*([] if load else _drafts(product, generations_seen)), *_declared(product, load)]
    return Frontier(
        segment=where_key(scope.where),
        load=load,
        bounds=_bounds_of(document, scope),
        points=_compared(told),
        trials=[FrontierPoint(point, None, outcome) for point, outcome, _ in _trials(product)],
        segments=[Choice(key, part.name or "The whole") for key, part in parts.items()],
        loads=loads,
    )


def bounds_now(product: Product) -> dict[str, str]:
    """The bounds of what is live; of the newest generation where nothing is yet."""
    return bounds(document_of(_digest_now(product)))


def _digest_now(product: Product) -> str:
    window = live_window(product)
    return window.digest if window else str(revision(generations(product)[0]).digest)


def _bounds_of(document: PolicyDocument, scope: Scope) -> Bounds:
    """A segment has a floor of its own; no gate bounds what it costs."""
    found = bounds(document)
    if scope.name:
        found[Metric.UTILITY] = f"{least_utility(document, scope):g}"
        del found[Metric.COST]
    return found


def _compared(told: Sequence[_Told]) -> list[FrontierPoint]:
    lost = beaten([point for point, _, _ in told])
    return [
        FrontierPoint(point, lost.get(point.name), outcome, is_selected)
        for point, outcome, is_selected in told
    ]


def _loads(product: Product, seen: Sequence[Measured]) -> list[Choice]:
    states = sorted({state for one in seen for state in one.seen.load_states})
    named = [Choice(state, state.replace("_", " ")) for state in states]
    trials = DeclaredPoint.objects.filter(product=product).exclude(condition="").order_by("id")
    declared = dict.fromkeys(trials.values_list("condition", flat=True))
    return [
        Choice("", "All that was recorded"),
        *named,
        *(Choice(name, f"Trial: {name}") for name in declared if name not in states),
    ]


def _measured(seen: Sequence[Measured], where: Where) -> list[_Told]:
    found = []
    for one in seen:
        point = one.point(where)
        if point is not None:
            found.append((point, f"under publication {one.window.publication}", False))
    return found


def _drafts(product: Product, seen: Sequence[Measured]) -> list[_Told]:
    """The newest generations that never ran, as recorded requests predict them."""
    window, ran = live_window(product), {one.window.digest for one in seen}
    if window is None:
        return []
    found: list[_Told] = []
    for generation in generations(product)[:DRAFTS]:
        latest = revision(generation)
        if latest.digest not in ran:
            found += _proposed(product, predicted(product, latest, window))
    return found


def _proposed(product: Product, proposed: Trade | Mapping[str, Any] | None) -> list[_Told]:
    """A trade's own prediction; one that was measured is among the measured points already."""
    trade = proposed.as_json() if isinstance(proposed, Trade) else proposed
    if not trade:
        return []
    after = {row["metric"]: row for row in trade["figures"]}
    if any(row["kind"] != "predicted" for row in after.values()):
        return []
    cost = after["cost_per_success_usd"]["after"]
    number = revision_by_digest(product, trade["digest"]).generation.number
    point = Point(
        f"Generation {number}, as predicted",
        _number(after["utility"]["after"]),
        _number(after["completion_p95_ms"]["after"]),
        Decimal(cost) if cost is not None else None,
        "predicted",
        attainment=_number(after["attainment"]["after"]),
    )
    known = (point.utility, point.p95_ms, point.cost_per_success_usd, point.attainment)
    if all(figure is None for figure in known):
        return []
    return [(point, "from recorded requests and evidence", False)]


def _declared(product: Product, condition: str) -> list[_Told]:
    """Policies as they are declared, or the trials of one condition."""
    rows = DeclaredPoint.objects.filter(product=product, condition=condition).order_by("id")
    return [_declared_point(row) for row in rows]


def _trials(product: Product) -> list[_Told]:
    rows = DeclaredPoint.objects.filter(product=product).exclude(condition="").order_by("id")
    return [_declared_point(row) for row in rows]


def _declared_point(row: DeclaredPoint) -> _Told:
    point = Point(
        row.name,
        row.utility,
        row.p95_ms,
        row.cost_per_success_usd,
        "declared",
        attainment=row.attainment,
        success_per_s=row.success_per_s,
    )
    return point, row.outcome, row.is_selected


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
