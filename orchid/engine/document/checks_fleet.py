"""Findings about capacity and placement: demand against the fleet, and where replicas live."""

from collections.abc import Iterator

from orchid.engine.capacity import SPIKE_FACTOR, Load
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.values import decimal_text, figure
from orchid.engine.headroom import (
    device_teu_per_s,
    devices_in_group,
    groups_of,
    headroom_ledger,
)

UNPINNED_TRIGGER = "upstream_unpinned"


def demand_over_fleet_steady(subject: Subject) -> Told:
    yield from _over_fleet(subject, "steady demand", subject.trials["steady"])


def demand_over_fleet_spike(subject: Subject) -> Told:
    yield from _over_fleet(subject, f"a {SPIKE_FACTOR}x spike", subject.trials["spike"])


def demand_over_fleet_group_loss(subject: Subject) -> Told:
    yield from _over_fleet(subject, "loss of one device group", subject.trials["group_loss"])


def demand_over_fleet_candidate_overlap(subject: Subject) -> Told:
    """A candidate that can't live beside the incumbent takes a device group for its own pool."""
    size = subject.document.fleet.group_size
    words = f"a candidate on {size} device{'s' if size > 1 else ''} beside the incumbent"
    yield from _over_fleet(subject, words, subject.trials["candidate_overlap"])


def _over_fleet(subject: Subject, words: str, load: Load) -> Told:
    if not load.fits:
        yield (
            "/fleet",
            f"{words}: {figure(load.demand_teu_per_s)} TEU/s over "
            f"{figure(load.capacity_teu_per_s)} safe, deficit {figure(load.deficit_teu_per_s)} "
            f"TEU/s{_relieved(subject, load)}",
        )


def _relieved(subject: Subject, load: Load) -> str:
    full, least = subject.trials["steady"].demand_teu_per_s, subject.least_teu_per_s
    if least == full or not full:
        return "; no class may fall back"
    lowest = load.demand_teu_per_s * least / full
    return f"; {figure(lowest)} TEU/s if all that may fall back does"


def capacity_not_warm(subject: Subject) -> Told:
    """Capacity counts where it is warm before a queue has waited for it: nothing loads in time."""
    fleet = subject.document.fleet
    replicas = sum(fleet.replicas.values())
    if fleet.replicas and replicas < fleet.devices:
        cold = fleet.devices - replicas
        rate = device_teu_per_s(fleet)
        yield (
            "/fleet/replicas",
            f"{replicas} replicas keep at most {replicas} of {fleet.devices} devices warm: "
            f"{cold} x {figure(rate)} = {figure(cold * rate)} TEU/s of the safe rate are not there "
            "in time",
        )


def headroom_open(subject: Subject) -> Told:
    ledger = headroom_ledger(subject.document.fleet)
    if ledger is None or ledger.closes:
        return
    lines = " + ".join(f"{name} {decimal_text(part)}" for name, part in ledger.lines.items())
    yield (
        "/fleet/headroom",
        f"{lines} = {decimal_text(ledger.named)}, but a safe factor of "
        f"{decimal_text(subject.document.fleet.safe_factor)} keeps {decimal_text(ledger.kept)}: "
        f"{decimal_text(ledger.remainder)} is unaccounted",
    )


def route_cold(subject: Subject) -> Told:
    """A route that may be taken has to be resident: nothing is loaded in an emergency."""
    replicas = subject.document.fleet.replicas
    if not replicas:
        return
    for pointer, route in _served_routes(subject):
        if route not in replicas:
            yield pointer, f"the fleet declares no replica of {route}"


def _served_routes(subject: Subject) -> Iterator[tuple[str, str]]:
    document, pair = subject.document, subject.document.routing.cascade
    for name, route in subject.routes.items():
        yield f"/classes/{name}/model", route
    for i, rule in subject.allowing:
        if rule.to is not None and rule.to in document.models:
            yield f"/fallback/{i}/to", rule.to
    if document.admission.conservative_route is not None:
        yield "/admission/conservative_route", document.admission.conservative_route
    if pair is not None:
        yield "/routing/cascade/small", pair.small
        yield "/routing/cascade/large", pair.large


def fallback_not_resident(subject: Subject) -> Told:
    """The overload rung turns to replicas that are warm already, or it turns to nothing."""
    document = subject.document
    steps = [i for i, step in enumerate(document.overload_steps) if step.rung == "compact_fallback"]
    targets = {rule.to for _, rule in subject.allowing if rule.to in document.models}
    cold = sorted(str(route) for route in targets - set(document.fleet.replicas))
    if steps and cold and document.fleet.replicas:
        yield (
            f"/overload/{steps[0]}",
            f"compact_fallback serves by {names(cold)}, of which no replica stays resident",
        )


def primary_single_replica(subject: Subject) -> Told:
    replicas = subject.document.fleet.replicas
    for route in sorted(set(subject.routes.values())):
        if replicas.get(route, 2) < 2:
            asking = [name for name, asked in subject.routes.items() if asked == route]
            yield (
                f"/fleet/replicas/{route}",
                f"{names(asking)} ask for {route}, whose only replica is a single failure",
            )


def placement_unknown_group(subject: Subject) -> Told:
    fleet = subject.document.fleet
    for route, groups in fleet.placement.items():
        unknown = sorted(group for group in groups if group > groups_of(fleet))
        if unknown:
            yield (
                f"/fleet/placement/{route}",
                f"group {names(map(str, unknown))}: {fleet.devices} devices in groups of "
                f"{fleet.group_size} are groups 1 to {groups_of(fleet)}",
            )


def placement_over_groups(subject: Subject) -> Told:
    """At most one replica of a route on a device."""
    fleet = subject.document.fleet
    for route, groups in fleet.placement.items():
        devices = sum(devices_in_group(fleet, group) for group in set(groups))
        replicas = fleet.replicas.get(route, 0)
        if replicas > devices:
            yield (
                f"/fleet/placement/{route}",
                f"{replicas} replicas in groups {names(map(str, groups))}, which have {devices} "
                "devices",
            )


def fallback_shares_failure_group(subject: Subject) -> Told:
    """A fallback that goes with one group of its primary's is none when it is needed."""
    placement = subject.document.fleet.placement
    for i, rule in subject.allowing:
        primary, other = placement.get(rule.from_ or ""), placement.get(rule.to or "")
        if primary and other and len(set(other)) == 1 and set(other) <= set(primary):
            yield (
                f"/fallback/{i}",
                f"every replica of {rule.to} is in group {other[0]}, which also holds "
                f"{rule.from_}: losing it takes both",
            )


def upstream_unpinned(subject: Subject) -> Told:
    """What can change under its name voids its evidence unless something watches for it."""
    watched = {condition.trigger for condition in subject.document.revisit}
    if UNPINNED_TRIGGER in watched:
        return
    for name, model in subject.document.models.items():
        if not model.pinned:
            yield (
                f"/models/{name}/pinned",
                f"the upstream may change {name} under its name, and no revisit condition "
                f"{UNPINNED_TRIGGER} reruns its frozen suite",
            )
