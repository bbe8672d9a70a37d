"""Declared outcomes: quoted as they stand, and what follows from them at the gates."""

from collections.abc import Callable
from decimal import Decimal

from orchid.engine.declared import (
    Declared,
    best,
    bounds,
    difference,
    failed_gates,
    margin,
    narrow_gates,
)
from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import attainment, successes_per_h
from orchid.engine.frontier import Point, dominated
from orchid.engine.pricing import offered_requests_per_s


def point_of(material: Material, given: Given) -> Declared:
    """The declared point, or degraded trial, of that name."""
    kind = "point" if given.has("point") else "degraded_trial"
    known = material.declared.points if kind == "point" else material.declared.trials
    name = given.text(kind)
    if name not in known:
        raise FigureError(f"no {kind.replace('_', ' ')} is declared as {name!r}")
    return known[name]


def _stated(point: Declared, name: str) -> Decimal:
    found = {**point.figures, **point.observed}.get(name)
    if found is None:
        raise FigureError(f"{point.name} states no {name}")
    return found


def _quoted(material: Material, given: Given) -> Worked:
    point = point_of(material, given)
    return Worked(_stated(point, given.text("figure")), {"declared": point.name})


def _of_gates(
    find: Callable[[PolicyDocument, Declared], tuple[str, ...]],
) -> Callable[[Material, Given], Worked]:
    def compute(material: Material, given: Given) -> Worked:
        point, gates = point_of(material, given), material.document.gates
        inputs: dict[str, Value] = {
            **{f"bound {name}": bound for name, bound in bounds(material.document).items()},
            **point.figures,
            **point.observed,
            "fragile_margin": Decimal(str(gates.fragile_margin)),
        }
        return Worked(find(material.document, point), inputs)

    return compute


def _margin(material: Material, given: Given) -> Worked:
    point, figure = point_of(material, given), given.text("figure")
    room = margin(material.document, point, figure)
    if room is None:
        raise FigureError(f"{point.name} states no {figure} that a gate judges")
    inputs = {figure: point.figures[figure], "bound": bounds(material.document)[figure]}
    return Worked(room, inputs)


def _difference(material: Material, given: Given) -> Worked:
    point, figure, base = point_of(material, given), given.text("figure"), given.text("base")
    if base not in material.declared.points:
        raise FigureError(f"no point is declared as {base!r}")
    before, after = _stated(material.declared.points[base], figure), _stated(point, figure)
    found = difference(material.declared.points[base], point, figure)
    return Worked(found, {base: before, point.name: after})


def _attained(material: Material, given: Given) -> Worked:
    rate = _stated(point_of(material, given), "success_per_s")
    offered = offered_requests_per_s(material.document)
    inputs = {"success_per_s": rate, "offered_requests_per_s": offered}
    return Worked(attainment(rate, offered), inputs)


def _own_cost(material: Material, given: Given) -> Worked:
    """From the ledger that the point itself names, which need not be the product's."""
    point = point_of(material, given)
    rate, ledger = _stated(point, "success_per_s"), _stated(point, "ledger_usd_per_h")
    inputs = {"ledger_usd_per_h": ledger, "success_per_s": rate}
    return Worked(ledger / successes_per_h(rate), inputs)


def _dominated(material: Material, given: Given) -> Worked:
    points = [_frontier_point(point) for point in material.declared.points.values()]
    beaten = dominated(points)
    names = tuple(name for name in material.declared.points if name in beaten)
    return Worked(names, {"points": len(points)})


def _frontier_point(point: Declared) -> Point:
    utility, p95 = point.figures.get("utility"), point.figures.get("p95_ms")
    return Point(
        point.name,
        None if utility is None else float(utility),
        None if p95 is None else float(p95),
        point.figures.get("cost_per_success_usd"),
        "declared",
    )


def _best(material: Material, given: Given) -> Worked:
    figure, points = given.text("figure"), material.declared.points
    stated = {n: point.figures[figure] for n, point in points.items() if figure in point.figures}
    return Worked(best(points, figure), {**stated})


DERIVATIONS = (
    Derivation("declared", "", point_of, "quoted from the declared points", _quoted, declared=True),
    Derivation(
        "failed_gates",
        "",
        failed_gates,
        "every bound that the point misses",
        _of_gates(failed_gates),
    ),
    Derivation(
        "narrow_gates",
        "",
        narrow_gates,
        "kept, with a margin of at most the fragile share of the bound",
        _of_gates(narrow_gates),
    ),
    Derivation("declared_margin", "", margin, "distance to the bound", _margin),
    Derivation("declared_difference", "", difference, "base - point", _difference),
    Derivation(
        "declared_attainment", "share", attainment, "successes / offered requests", _attained
    ),
    Derivation(
        "declared_own_cost_usd",
        "$",
        successes_per_h,
        "the point's own ledger / its successes",
        _own_cost,
    ),
    Derivation("dominated", "", dominated, "beaten or equalled on every count", _dominated),
    Derivation("best_point", "", best, "best of one figure", _best),
)
