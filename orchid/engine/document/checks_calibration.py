"""Findings about the demand model: what has no price, and cells that calibration marked."""

from collections import defaultdict

from orchid.engine.document.demand import DemandCell
from orchid.engine.document.findings import Subject, Told


def model_without_factor(subject: Subject) -> Told:
    document = subject.document
    for name in document.models:
        if name not in document.demand.model_factor:
            yield (
                f"/models/{name}",
                f"demand {document.demand.version} has no factor for it, so its work has no price",
            )


def cell_disabled_without_route(subject: Subject) -> Told:
    """A disabled cell goes to the conservative route, which has to be another one."""
    conservative = subject.document.admission.conservative_route
    for i, cell in enumerate(subject.document.demand.cells):
        if not cell.disabled:
            continue
        if conservative is None:
            yield (
                f"/demand/cells/{i}",
                f"{_shown(cell)} is disabled, and no conservative route takes it",
            )
        elif conservative == cell.route:
            yield (
                f"/demand/cells/{i}",
                f"{_shown(cell)} is disabled, and the conservative route is {cell.route} itself",
            )


def ambiguous_cells(subject: Subject) -> Told:
    """One shape has one measure."""
    places: dict[tuple[str, str | None, str | None], list[int]] = defaultdict(list)
    for i, cell in enumerate(subject.document.demand.cells):
        places[cell.route, cell.input_bucket, cell.output_bucket].append(i)
    for first, *others in places.values():
        for i in others:
            cell = subject.document.demand.cells[i]
            yield f"/demand/cells/{i}", f"{_shown(cell)} is already /demand/cells/{first}"


def _shown(cell: DemandCell) -> str:
    shape = f"input {cell.input_bucket or 'any'}, output {cell.output_bucket or 'any'}"
    return f"{cell.route} with {shape}"
