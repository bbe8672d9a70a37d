"""Findings about floors, and about what a client may see of an answer."""

from collections import defaultdict

from orchid.engine.document.findings import RouteUtility, Subject, Told, names
from orchid.engine.segments import specificity, where_key
from orchid.engine.selector_index import positions


def floor_unreachable(subject: Subject) -> Told:
    """A bound on a mean of scores in [0, 1] stays under 1, whatever the evidence."""
    bounds = [("/gates/utility/min", subject.document.gates.utility.min)]
    bounds += [
        (f"/segments/floors/{i}/min_utility", floor.min_utility)
        for i, floor in enumerate(subject.document.segments.floors)
    ]
    for pointer, bound in bounds:
        if bound >= 1:
            yield pointer, f"no evidence can show a utility of {bound}"


def floor_over_evidence(subject: Subject) -> Told:
    """Where a route is asked for, it or another one has to clear the floor that holds there."""
    known: dict[str, list[RouteUtility]] = defaultdict(list)
    for cell in subject.evidence:
        known[where_key(cell.where)].append(cell)
    for key, cells in known.items():
        best = max(cells, key=lambda cell: cell.utility)
        place = _speaking(subject, best)
        if place is None or not any(_asked(subject, cell) for cell in cells):
            continue
        floor = subject.document.segments.floors[place]
        if best.utility < floor.min_utility:
            yield (
                f"/segments/floors/{place}",
                f"asks {floor.min_utility}, but the best route known in {key or 'everything'} is "
                f"{best.route} with {best.utility}",
            )


def _asked(subject: Subject, cell: RouteUtility) -> bool:
    """Whether requests of the cell's segment ask for its route."""
    fitting = positions(subject.arriving.overlapping(cell.where))
    return any(subject.arrivals[i].route == cell.route for i in fitting)


def _speaking(subject: Subject, cell: RouteUtility) -> int | None:
    """Place of the floor that holds in all of the cell's segment."""
    floors = subject.document.segments.floors
    return max(
        positions(subject.floors.covering(cell.where)),
        key=lambda i: (specificity(floors[i].where), -i),
        default=None,
    )


def streaming_before_validation(subject: Subject) -> Told:
    """A validator of whole answers has seen none of what is streamed as it is made."""
    for name, model in subject.document.models.items():
        if model.streaming == "incremental" and model.validator is not None:
            yield (
                f"/models/{name}/streaming",
                f"incremental delivers tokens that {model.validator} has not seen: stream after "
                "validation",
            )


def early_stop_not_accepted(subject: Subject) -> Told:
    accepts = subject.document.contract.accepts
    for name, model in subject.document.models.items():
        if model.early_stop is not None and "early_terminated" not in accepts:
            yield (
                f"/models/{name}/early_stop",
                f"{model.early_stop.version} ends answers early, which the contract accepts as no "
                f"success: it accepts {names(accepts) or 'full answers only'}",
            )


def early_stop_never(subject: Subject) -> Told:
    for name, model in subject.document.models.items():
        stop = model.early_stop
        if stop is not None and not subject.arriving.overlapping(stop.where):
            yield (
                f"/models/{name}/early_stop/where",
                f"no declared request is in {where_key(stop.where)}",
            )


def cache_without_tenant(subject: Subject) -> Told:
    """An answer that is kept for one tenant must never be found by another."""
    for name, model in subject.document.models.items():
        kept = model.cacheable
        if kept is not None and not {"tenant", "user"} & set(kept.depends_on):
            yield (
                f"/models/{name}/cacheable/depends_on",
                f"the key has {names(kept.depends_on)} but no tenant: one tenant's answer would "
                "reach another",
            )


def cache_shared_without_cell(subject: Subject) -> Told:
    """Prefix affinity keeps caches warm; who may share them is told by privacy cells."""
    if subject.document.admission.affinity is None:
        return
    for name in sorted(set(subject.routes.values())):
        if not subject.document.models[name].privacy_cells:
            yield (
                f"/models/{name}",
                "requests follow their prefix to its cache, and no privacy cell says whose "
                "requests may share one",
            )


def class_modality(subject: Subject) -> Told:
    for name, route in subject.routes.items():
        modality, taken = (
            subject.document.classes[name].modality,
            subject.document.models[route].modality,
        )
        if modality not in taken:
            yield f"/classes/{name}/modality", f"{route} takes {names(taken)}, not {modality}"
