"""Findings about who may be served by another route, and by which."""

from collections import defaultdict

from orchid.engine.document.findings import RouteUtility, Subject, Told, names
from orchid.engine.document.quality import MODELLESS_ROUTES, FallbackRule
from orchid.engine.segments import Where, both, implies, specificity, where_key
from orchid.engine.selector_index import Bits, SelectorIndex, positions


def fallback_below_floor(subject: Subject) -> Told:
    """Every piece of evidence for a fallback route clears each floor where it may be served."""
    cells: dict[str, list[RouteUtility]] = defaultdict(list)
    for cell in subject.evidence:
        cells[cell.route].append(cell)
    indexes = {route: SelectorIndex([c.where for c in found]) for route, found in cells.items()}
    for i, rule in subject.allowing:
        if rule.to not in indexes or subject.denials.covering(rule.where):
            continue
        for k in positions(indexes[rule.to].overlapping(rule.where)):
            if text := _below(subject, rule, cells[rule.to][k]):
                yield f"/fallback/{i}", text
                break


def _below(subject: Subject, rule: FallbackRule, cell: RouteUtility) -> str | None:
    """The first floor that speaks where the rule serves and that the evidence is under."""
    served = both(rule.where, cell.where)
    if subject.denials.covering(served):
        return None
    for k in positions(subject.floors.overlapping(served)):
        floor = subject.document.segments.floors[k]
        if cell.utility < floor.min_utility and _speaks(subject, both(served, floor.where), k):
            return (
                f"{rule.to} reaches {cell.utility} in {where_key(cell.where) or 'all'}, under "
                f"the floor {floor.min_utility} of {where_key(floor.where) or 'everything'}"
            )
    return None


def _speaks(subject: Subject, where: Where, floor: int) -> bool:
    """Whether fallback is open there and no more specific floor holds in all of it."""
    size = specificity(subject.document.segments.floors[floor].where)
    narrower = subject.floors.covering(where) & subject.floors.over_size(size)
    return not narrower and not subject.denials.covering(where)


def fallback_unproven(subject: Subject) -> Told:
    """Where evidence is known at all, a fallback without any proves no success."""
    if not subject.evidence:
        return
    for i, rule in subject.allowing:
        cells = (cell for cell in subject.evidence if cell.route == rule.to)
        if rule.to in subject.document.models and not any(
            all(both(rule.where, cell.where).values()) for cell in cells
        ):
            yield (
                f"/fallback/{i}",
                f"no evidence of {rule.to} in {where_key(rule.where) or 'everything'}: its answers "
                "would count as no success",
            )


def fallback_ring(subject: Subject) -> Told:
    edges: dict[str, set[str]] = defaultdict(set)
    for _, rule in subject.allowing:
        edges[rule.from_ or ""].add(rule.to or "")
    leads = {route: _reached(route, edges) for route in edges}
    for i, rule in subject.allowing:
        if rule.from_ == rule.to or rule.from_ in leads.get(rule.to or "", ()):
            yield (
                f"/fallback/{i}",
                f"{rule.from_} falls back to {rule.to}, which leads back to {rule.from_}",
            )


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for route in edges.get(ahead.pop(), set()) - seen:
            seen.add(route)
            ahead.append(route)
    return seen


def fallback_never(subject: Subject) -> Told:
    led_to = {rule.to for _, rule in subject.allowing}
    for i, rule in subject.allowing:
        if subject.denials.covering(rule.where):
            yield f"/fallback/{i}", f"a deny rule covers all of {_shown(rule)}"
        elif rule.from_ not in led_to and not _asked_for(subject, rule):
            yield (
                f"/fallback/{i}",
                f"nothing that asks for {rule.from_} can be in {_shown(rule)}",
            )


def _asked_for(subject: Subject, rule: FallbackRule) -> bool:
    fitting = [subject.arrivals[k] for k in positions(subject.arriving.overlapping(rule.where))]
    asked = {arrival.route for arrival in fitting}
    return rule.from_ in asked | _chosen(subject, asked) or (
        bool(fitting) and _routed(subject, rule)
    )


def _chosen(subject: Subject, asked: set[str]) -> set[str]:
    """Routes that a cascade or classifier turns these to, either way."""
    pair = subject.document.routing.cascade or subject.document.routing.classifier
    return {pair.small, pair.large} if pair and pair.large in asked else set()


def _routed(subject: Subject, rule: FallbackRule) -> bool:
    """Whether a routing rule sends some of these requests to the rule's own route."""
    return any(
        routed.route == rule.from_ and all(both(routed.where, rule.where).values())
        for routed in subject.document.routing.rules
    )


def fallback_redundant(subject: Subject) -> Told:
    """What a wider rule allows already, where no other route's place in the order changes."""
    alike: dict[tuple[str | None, str | None, bool], Bits] = defaultdict(int)
    of_route: dict[str | None, Bits] = defaultdict(int)
    for k, (_, rule) in enumerate(subject.allowing):
        alike[rule.from_, rule.to, rule.prefer] |= 1 << k
        of_route[rule.from_] |= 1 << k
    for k, (i, rule) in enumerate(subject.allowing):
        same = alike[rule.from_, rule.to, rule.prefer]
        others = subject.allowances.overlapping(rule.where) & of_route[rule.from_] & ~same
        wider = subject.allowances.covering(rule.where) & same & ~(1 << k)
        if others:
            continue
        for j in positions(wider):
            place, other = subject.allowing[j]
            if j < k or not implies(other.where, rule.where):
                yield f"/fallback/{i}", f"/fallback/{place} allows all of {_shown(rule)} already"
                break


def deny_never(subject: Subject) -> Told:
    """A prohibition may stand before anything is allowed there, but not where nothing arrives."""
    denying = [(i, rule) for i, rule in enumerate(subject.document.fallback) if rule.deny]
    for k, (i, rule) in enumerate(denying):
        if not subject.allowing:
            yield f"/fallback/{i}", "no rule allows a fallback that it could deny"
        elif not subject.arriving.overlapping(rule.where):
            yield f"/fallback/{i}", f"no declared request is in {_shown(rule)}"
        else:
            for j in positions(subject.denials.covering(rule.where) & ~(1 << k)):
                place, other = denying[j]
                if j < k or not implies(other.where, rule.where):
                    yield (
                        f"/fallback/{i}",
                        f"/fallback/{place} denies all of {_shown(rule)} already",
                    )
                    break


def fallback_drops_validator(subject: Subject) -> Told:
    """Validation that is mandatory on the asked route is so on the one that answers instead."""
    models = subject.document.models
    for i, asked, other in subject.pairs():
        needed = models[asked].validator
        if needed is not None and models[other].validator is None:
            yield f"/fallback/{i}", f"{asked} is validated by {needed}, {other} by nothing"


def cached_fallback_without_cache(subject: Subject) -> Told:
    models = subject.document.models
    for i, rule in subject.allowing:
        asked = models.get(rule.from_ or "")
        if rule.to == "cached" and asked is not None and asked.cacheable is None:
            yield (
                f"/fallback/{i}",
                f"answers of {rule.from_} are never kept: it declares nothing as cacheable",
            )


def fallback_not_accepted(subject: Subject) -> Told:
    accepts = subject.document.contract.accepts
    for i, rule in subject.allowing:
        if rule.to in MODELLESS_ROUTES and rule.to not in accepts:
            yield (
                f"/fallback/{i}",
                f"the contract accepts {names(accepts) or 'full answers only'}, so what {rule.to} "
                "serves is no success",
            )


def fallback_outside_cell(subject: Subject) -> Told:
    models = subject.document.models
    for i, asked, other in subject.pairs():
        needed, served = models[asked].privacy_cells, models[other].privacy_cells
        missing = sorted(set(needed) - set(served)) if served else []
        if missing or (served and not needed):
            yield (
                f"/fallback/{i}",
                f"{other} serves only the cells {names(served)}, {asked} serves "
                f"{names(needed) or 'every cell'}",
            )


def fallback_modality(subject: Subject) -> Told:
    for name, traffic in subject.document.classes.items():
        for i, route in subject.fallbacks(name):
            taken = subject.document.models[route].modality
            if traffic.modality not in taken:
                yield (
                    f"/fallback/{i}",
                    f"{name} brings {traffic.modality}, {route} takes {names(taken)}",
                )


def _shown(rule: FallbackRule) -> str:
    return where_key(rule.where) or "everything"
