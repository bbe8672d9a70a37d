"""The bare question that another policy engine can be asked too, and the rules that answer it.

May this route serve this request? Yes, when the request is eligible, the route is the requested one
or an allowed fallback that no rule prohibits, and the utility shown for the route there clears the
segment's floor. Everything else that admission weighs (time, memory, budgets, shares, queues) has
no counterpart in a policy engine.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.admission.shape import shape_of
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import Where, both, fallbacks_for, floor_for, implies, is_eligible

UTILITY_SCALE = 10_000  # some engines know no fractions


@dataclass(frozen=True, slots=True)
class Question:
    """One request and one route. `attributes` is what a peer is handed, ready made."""

    request: AdmissionRequest
    attributes: dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Rule:
    """Permits or forbids what `where` selects, if its utility is below `below`. A forbid wins."""

    permits: bool
    where: Mapping[str, tuple[str, ...]]
    below: int | None = None


def rules_of(document: PolicyDocument) -> list[Rule]:
    """The document's eligibility, fallbacks, prohibitions and floors as such rules."""
    eligible = document.contract.eligible
    rules = [Rule(True, both(eligible, {"fallback": "no"}))]
    for rule in document.fallback:
        if rule.deny:
            rules.append(Rule(False, both(rule.where, {"fallback": "yes"})))
        elif rule.from_ and rule.to:
            pair = {"fallback": "yes", "requested": rule.from_, "route": rule.to}
            rules.append(Rule(True, both(both(eligible, rule.where), pair)))
    return rules + [Rule(False, both(where, {}), below) for where, below in _floors(document)]


def _floors(document: PolicyDocument) -> Iterator[tuple[Where, int]]:
    """All floors hold together, which is the most specific one when it is the highest too."""
    floors = document.segments.floors
    for floor in floors:
        wider = (f.min_utility for f in floors if implies(floor.where, f.where))
        if floor.min_utility < max(wider):
            raise ValueError("a floor under a wider one can't be told to rules that all hold")
        yield floor.where, round(floor.min_utility * UTILITY_SCALE)


def allowed(document: PolicyDocument, attributes: Mapping[str, str | int]) -> bool:
    """The answer by the engine's own functions."""
    dimensions = {name: str(value) for name, value in attributes.items()}
    requested, route = dimensions["requested"], dimensions["route"]
    if not is_eligible(document, dimensions):
        return False
    if route != requested and route not in fallbacks_for(document, requested, dimensions):
        return False
    floor = floor_for(document, dimensions) or 0.0
    return int(attributes["utility"]) >= round(floor * UTILITY_SCALE)


def questions(
    requests: Iterable[AdmissionRequest], policy: CompiledPolicy, seed: int = 1
) -> list[Question]:
    """One for each request: as often about the requested route as about another."""
    dice = random.Random(seed)  # noqa: S311 (a seeded benchmark)
    routes = sorted(policy.routes)
    return [_question(request, policy, routes, dice) for request in requests]


def _question(
    request: AdmissionRequest, policy: CompiledPolicy, routes: list[str], dice: random.Random
) -> Question:
    shape = shape_of(request, policy)
    assert not isinstance(shape, str), f"{request.request_id} has no shape: {shape}"
    route = shape.route if dice.random() < 0.5 else dice.choice(routes)
    attributes: dict[str, str | int] = {
        "requested": shape.route,
        "route": route,
        "fallback": "no" if route == shape.route else "yes",
        **shape.dimensions,
        "utility": dice.randrange(8_800, 9_600),
    }
    return Question(request, attributes)
