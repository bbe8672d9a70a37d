"""What would bring TEU a second when a scenario is over the fleet, computed from the document.

Two lists: what the policy already allows, and what has to be renegotiated with people. Each relief
stands alone; the second never touches a protected class, one whose every fallback is prohibited.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from orchid.engine.document.demand import TrafficClass
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import figure
from orchid.engine.headroom import device_teu_per_s
from orchid.engine.pricing import teu
from orchid.engine.routing import class_route
from orchid.engine.scenario import Scenario
from orchid.engine.segments import implies, may_overlap

NOTHING = Decimal()


@dataclass(frozen=True, slots=True)
class Relief:
    """One way out: what it brings, and whether it covers the deficit by itself."""

    what: str
    teu_per_s: Decimal
    closes: bool
    text: str


@dataclass(frozen=True, slots=True)
class Shortage:
    """A scenario over the fleet, by the figures that every relief starts from."""

    document: PolicyDocument
    scenario: Scenario
    teu_per_request: Mapping[str, Decimal]
    requests_per_s: Mapping[str, Decimal]
    deficit_teu_per_s: Decimal

    def work(self, cls: str) -> Decimal:
        return self.teu_per_request[cls] * self.requests_per_s[cls]

    @property
    def open_classes(self) -> Iterator[tuple[str, TrafficClass]]:
        """Classes that somebody may be asked to give up something of."""
        for name, traffic in self.document.classes.items():
            if not is_protected(self.document, name):
                yield name, traffic


Found = tuple[Decimal, str]


def allowed(shortage: Shortage) -> tuple[Relief, ...]:
    """What the policy allows without anybody's decision."""
    return _reliefs(
        shortage, (("compact_fallback", _fallback), ("cap_optional_output", _optional_outputs))
    )


def renegotiable(shortage: Shortage) -> tuple[Relief, ...]:
    """Which constraints would have to be renegotiated, and what each would bring."""
    return _reliefs(
        shortage,
        (
            ("cut_standard_caps", _caps),
            ("defer_async", _defer),
            ("bounded_rejection", _reject),
            ("exposure_off_peak", _off_peak),
            ("fund_warm_capacity", _fund),
        ),
    )


def _reliefs(
    shortage: Shortage, kinds: tuple[tuple[str, Callable[[Shortage], Found]], ...]
) -> tuple[Relief, ...]:
    found = ((what, *relief(shortage)) for what, relief in kinds)
    deficit = shortage.deficit_teu_per_s
    return tuple(Relief(what, brought, brought >= deficit, text) for what, brought, text in found)


def is_protected(document: PolicyDocument, cls: str) -> bool:
    """Whether a deny rule covers every request of the class."""
    dimensions = document.classes[cls].dimensions
    return any(rule.deny and implies(dimensions, rule.where) for rule in document.fallback)


def cheapest_teu(document: PolicyDocument, cls: str, routes: Iterable[str]) -> Decimal:
    """Price of the class's declared shape on the cheapest of the routes.

    Routes without a model answer nothing in full, so they are no relief of this kind.
    """
    traffic = document.classes[cls]
    priced = [
        teu(document.demand, route, traffic.input_tokens, traffic.max_output_tokens)
        for route in routes
        if route in document.models and route in document.demand.model_factor
    ]
    return min(priced, default=NOTHING)


def _routes(document: PolicyDocument, cls: str) -> set[str]:
    """The class's own route and those that may serve some of it instead."""
    asked, dimensions = class_route(document, cls), document.classes[cls].dimensions
    if is_protected(document, cls):
        return {asked}
    rules = (rule for rule in document.fallback if rule.to and rule.from_ == asked)
    return {asked, *(str(r.to) for r in rules if may_overlap(r.where, dimensions))}


def _fallback(shortage: Shortage) -> Found:
    saved = {
        name: shortage.requests_per_s[name] * max(each - _cheapest(shortage, name), NOTHING)
        for name, each in shortage.teu_per_request.items()
    }
    names = [name for name, brought in saved.items() if brought]
    if not names:
        return NOTHING, "no class may fall back to a cheaper route"
    total = sum(saved.values(), NOTHING)
    return (
        total,
        f"serve all of {_list(names)} that may fall back by the cheapest route: {_bring(total)}",
    )


def _cheapest(shortage: Shortage, cls: str) -> Decimal:
    return cheapest_teu(shortage.document, cls, _routes(shortage.document, cls))


def _optional_outputs(shortage: Shortage) -> Found:
    """Down to what overload caps by itself."""
    rungs = {step.rung for step in shortage.document.overload_steps}
    if "cap_optional_output" not in rungs:
        return NOTHING, "no overload rung caps outputs"
    capped = {name: c.capped_output_tokens for name, c in shortage.document.classes.items()}
    return _cut(shortage, capped, "cap optional outputs", "no class declares an optional output")


def _caps(shortage: Shortage) -> Found:
    """Down to the smallest output that is of use, which is for the product to give up."""
    least = {
        name: traffic.min_output_tokens or traffic.capped_output_tokens
        for name, traffic in shortage.open_classes
    }
    return _cut(
        shortage, least, "cut output caps", "no open class declares a smaller useful output"
    )


def _cut(shortage: Shortage, least: Mapping[str, int | None], what: str, nothing: str) -> Found:
    parts, total = [], NOTHING
    for name, tokens in least.items():
        most = shortage.document.classes[name].max_output_tokens
        if tokens is None or tokens >= most:
            continue
        saved = shortage.teu_per_request[name] - _capped_teu(shortage.document, name, tokens)
        brought = saved * shortage.requests_per_s[name]
        total += brought
        parts.append(f"{name} {most:,} to {tokens:,} tokens {_signed(brought)}")
    if not parts:
        return NOTHING, nothing
    return total, f"{what} ({'; '.join(parts)}): {_bring(total)}"


def _capped_teu(document: PolicyDocument, cls: str, output_tokens: int) -> Decimal:
    traffic = document.classes[cls]
    return teu(document.demand, class_route(document, cls), traffic.input_tokens, output_tokens)


def _defer(shortage: Shortage) -> Found:
    waiting = [name for name, traffic in shortage.open_classes if not traffic.interactive]
    if not waiting:
        return NOTHING, "every open class is interactive: nothing may wait"
    total = sum((shortage.work(name) for name in waiting), NOTHING)
    return total, f"defer {_list(waiting)} past the scenario: {_bring(total)}"


def _reject(shortage: Shortage) -> Found:
    """Dearest requests first, and no more of any gated population than its attainment allows."""
    attainment = Decimal(repr(shortage.document.gates.attainment.min))
    parts, total = [], NOTHING
    for name, rejected in _rejected(shortage, 1 - attainment).items():
        total += rejected * shortage.teu_per_request[name]
        parts.append(f"{figure(rejected)} {name}/s")
    if not total:
        return NOTHING, f"an attainment of {attainment} leaves nothing to reject"
    return total, (
        f"reject at most {' and '.join(parts)}, which keeps attainment at {attainment} in every"
        f" gated segment: {_bring(total)}"
    )


def _rejected(shortage: Shortage, part: Decimal) -> dict[str, Decimal]:
    """Requests a second to reject by class."""
    wheres = [{}, *(segment.where for segment in shortage.document.gates.segments)]
    dimensions = {name: c.dimensions for name, c in shortage.document.classes.items()}
    inside = {
        name: [i for i, where in enumerate(wheres) if may_overlap(dims, where)]
        for name, dims in dimensions.items()
    }
    left = [
        part * sum((r for n, r in shortage.requests_per_s.items() if i in inside[n]), NOTHING)
        for i in range(len(wheres))
    ]
    rejected = {}
    for name in sorted(
        (name for name, _ in shortage.open_classes),
        key=lambda name: shortage.teu_per_request[name],
        reverse=True,
    ):
        most = min(shortage.requests_per_s[name], *(left[i] for i in inside[name]))
        for i in inside[name]:
            left[i] -= most
        if most > 0:
            rejected[name] = most
    return rejected


def _off_peak(shortage: Shortage) -> Found:
    """The candidate's devices and the rise of single classes; a spike or a loss picks its time."""
    document, scenario = shortage.document, shortage.scenario
    devices = scenario.lent_devices * device_teu_per_s(document.fleet)
    grown = {
        name: (rate - document.classes[name].arrivals_per_s * scenario.spike)
        * shortage.teu_per_request[name]
        for name, rate in shortage.requests_per_s.items()
    }
    risen = {name: work for name, work in grown.items() if work > 0}
    parts = (
        [f"{scenario.lent_devices} devices of the candidate {_signed(devices)}"] if devices else []
    )
    parts += [f"the rise of {name} {_signed(work)}" for name, work in risen.items()]
    if not parts:
        return NOTHING, "neither a candidate nor the rise of a class can be moved"
    total = devices + sum(risen.values(), NOTHING)
    return total, f"move off-peak ({'; '.join(parts)}): {_bring(total)}"


def _fund(shortage: Shortage) -> Found:
    fleet = shortage.document.fleet
    rate = device_teu_per_s(fleet)
    devices = (shortage.deficit_teu_per_s / rate).to_integral_value(ROUND_CEILING)
    usd = devices * fleet.device_usd_per_h
    what = "device" if devices == 1 else "devices"
    return devices * rate, (
        f"fund {devices} more {what}, warm before the load comes: {_bring(devices * rate)}"
        f" for ${usd:,.2f} an hour"
    )


def _list(names: list[str]) -> str:
    return ", ".join(names)


def _bring(teu_per_s: Decimal) -> str:
    return f"{figure(teu_per_s)} TEU/s"


def _signed(teu_per_s: Decimal) -> str:
    return f"+{figure(teu_per_s)}"
