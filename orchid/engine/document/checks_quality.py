"""Findings about floors, fallback and gates."""

from orchid.engine.document.findings import Finding, Findings, Subject
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.segments import (
    both,
    implies,
    may_overlap,
    specificity,
    where_key,
)


def floors_unambiguous(subject: Subject) -> Findings:
    """Two floors that can speak for one request, equally specific, have to agree."""
    floors = subject.document.segments.floors
    for i, first in enumerate(floors):
        for j in range(i + 1, len(floors)):
            if _tie(first, floors[j]) and not _settled(first, floors[j], floors):
                yield Finding(
                    "ambiguous_floors",
                    "error",
                    f"/segments/floors/{j}",
                    f"{_shown(first)} asks {first.min_utility}, {_shown(floors[j])} asks "
                    f"{floors[j].min_utility}, and a request can match both: add a floor for both",
                )


def _tie(first: Floor, second: Floor) -> bool:
    equal = specificity(first.where) == specificity(second.where)
    differ = first.min_utility != second.min_utility
    return equal and differ and may_overlap(first.where, second.where)


def _settled(first: Floor, second: Floor, floors: tuple[Floor, ...]) -> bool:
    joined = both(first.where, second.where)
    return any(
        specificity(floor.where) > specificity(first.where) and implies(joined, floor.where)
        for floor in floors
    )


def _shown(floor: Floor) -> str:
    return where_key(floor.where) or "everything"


def floors_reachable(subject: Subject) -> Findings:
    """A bound on a mean of scores in [0, 1] stays under 1, whatever the evidence."""
    gate = subject.document.gates.utility
    bounds = [("/gates/utility/min", gate.min)]
    bounds += [
        (f"/segments/floors/{i}/min_utility", floor.min_utility)
        for i, floor in enumerate(subject.document.segments.floors)
    ]
    for pointer, bound in bounds:
        if bound >= 1:
            yield Finding(
                "floor_unreachable", "error", pointer, f"no evidence can show a utility of {bound}"
            )


def fallback_leads_somewhere(subject: Subject) -> Findings:
    document = subject.document
    denied = [rule.where for rule in document.fallback if rule.deny]
    asked = _asked_routes(document)
    for i, rule in enumerate(document.fallback):
        if rule.deny:
            continue
        if any(implies(rule.where, where) for where in denied):
            reason = f"a deny rule covers all of {where_key(rule.where) or 'it'}"
        elif rule.from_ not in asked:
            reason = f"nothing asks for {rule.from_}"
        else:
            continue
        yield Finding("fallback_never", "warning", f"/fallback/{i}", reason)


def _asked_routes(document: PolicyDocument) -> set[str | None]:
    classes = {c.model for c in document.classes.values()}
    routed = {rule.route for rule in document.routing.rules}
    return {*classes, *routed, *(rule.to for rule in document.fallback)}


def fallback_has_no_ring(subject: Subject) -> Findings:
    edges = {(r.from_, r.to) for r in subject.document.fallback if r.from_ and r.to}
    for i, rule in enumerate(subject.document.fallback):
        if rule.from_ and rule.to and _reaches(rule.to, rule.from_, edges):
            yield Finding(
                "fallback_ring",
                "error",
                f"/fallback/{i}",
                f"{rule.from_} falls back to {rule.to}, which leads back to {rule.from_}",
            )


def _reaches(start: str, goal: str, edges: set[tuple[str, str]]) -> bool:
    seen = {start}
    while True:
        further = {to for at, to in edges if at in seen} - seen
        if goal in seen or not further:
            return goal in seen
        seen |= further


def fallback_clears_floors(subject: Subject) -> Findings:
    """Every piece of evidence for a fallback route clears each floor where it may be served."""
    for i, rule in enumerate(subject.document.fallback):
        if rule.deny:
            continue
        for cell in subject.evidence:
            for floor in subject.document.segments.floors:
                where = both(both(rule.where, cell.where), floor.where)
                concerns = cell.route == rule.to and all(where.values())
                if concerns and cell.utility < floor.min_utility and _open(subject, where):
                    yield Finding(
                        "fallback_below_floor",
                        "error",
                        f"/fallback/{i}",
                        f"{rule.to} reaches {cell.utility} in {where_key(cell.where) or 'all'}, "
                        f"under the floor {floor.min_utility} of {_shown(floor)}",
                    )


def _open(subject: Subject, where: dict[str, tuple[str, ...]]) -> bool:
    rules = subject.document.fallback
    return not any(rule.deny and implies(where, rule.where) for rule in rules)


def confidence_agrees(subject: Subject) -> Findings:
    gates = subject.document.gates
    stated = gates.completion_p95_ms.confidence
    if abs(stated + gates.alpha_pass - 1) > 1e-9:
        yield Finding(
            "confidence_disagrees",
            "warning",
            "/gates/completion_p95_ms/confidence",
            f"confidence {stated} beside alpha_pass {gates.alpha_pass}: verdicts use alpha_pass",
        )
