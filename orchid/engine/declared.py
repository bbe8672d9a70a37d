"""Outcomes that a product declares beside its measurements, and how they stand at its gates.

Declared points are data: nothing here recomputes one from the fleet's ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from orchid.engine.document.model import PolicyDocument

SCHEMA = "orchid.declared-points/v1"
MOST_POINTS = 1_000
MOST_DIGITS = 40
FIGURES = (
    "success_per_s",
    "p95_ms",
    "utility",
    "attainment",
    "cost_per_success_usd",
    "ledger_usd_per_h",
)
#: Figures by which more is better; of the others less is.
MORE_IS_BETTER = frozenset({"utility", "attainment", "success_per_s"})
#: The gate that judges each figure.
GATES = {
    "p95_ms": "completion_p95_ms",
    "cost_per_success_usd": "cost_per_success_usd",
    "utility": "utility",
    "attainment": "attainment",
}


class DeclaredError(ValueError):
    """The declared points can't be read; the message names the place and what is right there."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One outcome; a figure that it does not state is absent, never zero."""

    name: str
    figures: Mapping[str, Decimal]
    observed: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def most_attainment(self) -> Decimal | None:
        """Stated, else what the stated share of missed deadlines leaves at most."""
        stated = self.figures.get("attainment")
        missed = self.observed.get("deadline_miss_share")
        return stated if stated is not None or missed is None else 1 - missed


@dataclass(frozen=True, slots=True)
class DeclaredPoints:
    """Every point and degraded trial of one file, by name."""

    points: Mapping[str, Declared] = field(default_factory=dict)
    trials: Mapping[str, Declared] = field(default_factory=dict)


def declared_points(content: Mapping[str, Any]) -> DeclaredPoints:
    """The file's content in types; raises DeclaredError."""
    if content.get("schema") != SCHEMA:
        raise DeclaredError(f"the schema of declared points is {SCHEMA}")
    return DeclaredPoints(
        _by_name(content.get("points", []), "points"),
        _by_name(content.get("degraded_trials", []), "degraded_trials"),
    )


def failed_gates(document: PolicyDocument, point: Declared) -> tuple[str, ...]:
    """Every gate that the outcome misses, in the order of the document; equality is within."""
    return tuple(metric for metric, room in _rooms(document, point).items() if room < 0)


def narrow_gates(document: PolicyDocument, point: Declared) -> tuple[str, ...]:
    """Gates that are kept with a margin of at most the document's fragile share of the bound."""
    least = Decimal(str(document.gates.fragile_margin))
    return tuple(m for m, room in _rooms(document, point).items() if 0 <= room <= least)


def margin(document: PolicyDocument, point: Declared, figure: str) -> Decimal | None:
    """Distance of a stated figure to its bound, on the good side positive; None without either."""
    value, bound = point.figures.get(figure), bounds(document).get(figure)
    if value is None or bound is None:
        return None
    return value - bound if figure in MORE_IS_BETTER else bound - value


def bounds(document: PolicyDocument) -> dict[str, Decimal]:
    """The bound of each figure that a gate judges."""
    gates = document.gates
    return {
        "p95_ms": Decimal(gates.completion_p95_ms.max),
        "cost_per_success_usd": gates.cost_per_success_usd.max,
        "utility": Decimal(str(gates.utility.min)),
        "attainment": Decimal(str(gates.attainment.min)),
    }


def difference(base: Declared, point: Declared, figure: str) -> Decimal | None:
    """What the point gives up against a named base; None where either does not state it."""
    before, after = base.figures.get(figure), point.figures.get(figure)
    return None if before is None or after is None else before - after


def best(points: Mapping[str, Declared], figure: str) -> tuple[str, ...]:
    """Names of the points with the best of one figure, among those that can stand on a frontier."""
    known = {
        name: point.figures[figure]
        for name, point in points.items()
        if figure in point.figures and "utility" in point.figures
    }
    if not known:
        return ()
    first = (max if figure in MORE_IS_BETTER else min)(known.values())
    return tuple(name for name, value in known.items() if value == first)


def _rooms(document: PolicyDocument, point: Declared) -> dict[str, Decimal]:
    """Margin over bound of each gate with a stated figure; negative where it is missed."""
    attained = point.most_attainment
    figures = dict(point.figures) if attained is None else {**point.figures, "attainment": attained}
    whole, known = Declared(point.name, figures), bounds(document)
    rooms = {GATES[name]: (margin(document, whole, name), known[name]) for name in GATES}
    return {gate: room / bound for gate, (room, bound) in rooms.items() if room is not None}


def _by_name(rows: Any, at: str) -> dict[str, Declared]:
    if not isinstance(rows, list) or len(rows) > MOST_POINTS:
        raise DeclaredError(f"/{at}: a list of at most {MOST_POINTS:,} is needed")
    points = [_point(row, f"/{at}/{number}") for number, row in enumerate(rows)]
    found = {point.name: point for point in points}
    if len(found) < len(points):
        raise DeclaredError(f"/{at}: a name is given twice")
    return found


def _point(row: Any, at: str) -> Declared:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"]:
        raise DeclaredError(f"{at}: an object with a name is needed")
    stated = {name: row[name] for name in FIGURES if row.get(name) is not None}
    return Declared(row["name"], _numbers(stated, at), _numbers(row.get("observed", {}), at))


def _numbers(values: Any, at: str) -> dict[str, Decimal]:
    if not isinstance(values, dict):
        raise DeclaredError(f"{at}: an object of figures is needed")
    return {str(name): _number(value, f"{at}/{name}") for name, value in values.items()}


def _number(value: Any, at: str) -> Decimal:
    number = finite_decimal(value)
    if number is None:
        raise DeclaredError(f"{at}: a decimal number is needed, not {str(value)[:40]!r}")
    return number


def finite_decimal(value: Any) -> Decimal | None:
    """The number, floats by their shortest spelling, so that 0.1 is a tenth.

    None for what is none, and for one of more digits, or nearer to 0, than anything measured.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value)
    try:
        number = Decimal(text) if len(text) <= MOST_DIGITS else Decimal("NaN")
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    return number if not number or abs(number.adjusted()) <= MOST_DIGITS else None
