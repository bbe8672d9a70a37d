"""A fit and its verdicts as the `demand:` section of a policy document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from orchid.engine.calibration.fit import DemandFit
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.verdicts import Calibration, CellCalibration
from orchid.engine.document.values import decimal_text
from orchid.engine.segments import bucket_name

#: Digits of a fitted figure; the intervals of real measurements end long before.
DIGITS = 4
#: The one bucket of a dimension without edges; a document names it by leaving it out.
UNBUCKETED = bucket_name((), 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """What the document says of where its factors come from."""

    version: str
    runtime: str
    hardware: str
    measured: str


def demand_fragment(
    fit: DemandFit, origin: Origin, cells: Sequence[CellCalibration] = ()
) -> dict[str, Any]:
    """The whole section: factors, their origin, and the cells that need a pad or can't be served.

    Routes that were not fitted are left out: they need a factor from elsewhere.
    """
    section: dict[str, Any] = {
        "version": origin.version,
        "input_weight": rounded(fit.input_weight.value),
        "model_factor": {route: rounded(factor.value) for route, factor in fit.factors.items()},
        "fitted": {
            "runtime": origin.runtime,
            "hardware": origin.hardware,
            "measured": origin.measured,
            "attempts": fit.n,
        },
    }
    if measures := cells_fragment(cells):
        section["cells"] = measures
    return {"demand": section}


def cells_fragment(
    cells: Sequence[CellCalibration], pads: Mapping[Cell, float | None] | None = None
) -> list[dict[str, Any]]:
    """`demand.cells`: pads on top of those in force, and cells that are out."""
    before = pads or {}
    return [
        _measure(found, before.get(found.cell) or 1.0)
        for found in cells
        if found.verdict in (Calibration.PAD, Calibration.DISABLE)
    ]


def _measure(found: CellCalibration, before: float) -> dict[str, Any]:
    named = {
        "route": found.cell.route,
        "input_bucket": found.cell.input_bucket,
        "output_bucket": found.cell.output_bucket,
    }
    where = {name: value for name, value in named.items() if value != UNBUCKETED}
    if found.pad is None:
        return {**where, "disabled": True}
    return {**where, "pad": rounded(found.pad * before)}


def rounded(value: float) -> str:
    """A decimal of four significant digits, as text: 0.1203, 12.35."""
    return decimal_text(Decimal(f"{value:.{DIGITS}g}"))
