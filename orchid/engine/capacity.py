"""What the fleet can carry, and what is left when load rises or devices are lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Fleet
from orchid.engine.headroom import device_teu_per_s, devices_in_group, groups_of
from orchid.engine.pricing import demand_by_class, offered_requests_per_s, offered_teu_per_s
from orchid.engine.relief import Relief, Shortage, allowed, renegotiable
from orchid.engine.scenario import Scenario

#: The trial that every proposal is read against.
SPIKE_FACTOR = Decimal("1.4")


@dataclass(frozen=True, slots=True)
class Load:
    """Demand against safe capacity, both in TEU a second."""

    demand_teu_per_s: Decimal
    capacity_teu_per_s: Decimal

    @property
    def spare_teu_per_s(self) -> Decimal:
        """Negative when demand is over capacity."""
        return self.capacity_teu_per_s - self.demand_teu_per_s

    @property
    def deficit_teu_per_s(self) -> Decimal:
        return max(-self.spare_teu_per_s, Decimal())

    @property
    def fits(self) -> bool:
        return self.spare_teu_per_s >= 0

    @property
    def load_share(self) -> Decimal | None:
        """Demand over capacity; None without any capacity."""
        if not self.capacity_teu_per_s:
            return None
        return self.demand_teu_per_s / self.capacity_teu_per_s

    @property
    def headroom(self) -> Decimal | None:
        """Part of the capacity that is free; negative when overloaded."""
        load = self.load_share
        return None if load is None else 1 - load


@dataclass(frozen=True, slots=True)
class ClassChange:
    """One class before and in the scenario."""

    requests_per_s_before: Decimal
    requests_per_s: Decimal
    teu_per_s_before: Decimal
    teu_per_s: Decimal

    @property
    def added_teu_per_s(self) -> Decimal:
        return self.teu_per_s - self.teu_per_s_before


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A scenario's load by class and in sum, and where it doesn't fit, the ways out of it."""

    scenario: Scenario
    classes: Mapping[str, ClassChange]
    before: Load
    load: Load
    lost_routes: tuple[str, ...]
    """Routes whose every device group is among the lost ones."""
    allowed: tuple[Relief, ...] = ()
    """What the policy allows already; empty where the load fits."""
    renegotiate: tuple[Relief, ...] = ()
    """Constraints that people would have to renegotiate; empty where the load fits."""

    @property
    def fits(self) -> bool:
        return self.load.fits and not self.lost_routes


def safe_teu_per_s(fleet: Fleet, lost_devices: int = 0) -> Decimal:
    """What may be scheduled on the fleet without the lost devices."""
    return device_teu_per_s(fleet) * max(fleet.devices - lost_devices, 0)


def examine(document: PolicyDocument, scenario: Scenario) -> WhatIf:
    """Load when classes grow, device groups fail, or a candidate takes devices.

    A rise is recomputed by class: one percentage over the whole would hide what the class costs.
    """
    declared = demand_by_class(document)
    classes = {
        name: ClassChange(
            demand.requests_per_s,
            rate := scenario.requests_per_s(document, name),
            demand.teu_per_s,
            demand.teu_per_request * rate,
        )
        for name, demand in declared.items()
    }
    before = sum((c.teu_per_s_before for c in classes.values()), Decimal())
    after = sum((c.teu_per_s for c in classes.values()), Decimal())
    load = Load(after, safe_teu_per_s(document.fleet, lost_devices(document.fleet, scenario)))
    shortage = Shortage(
        document,
        scenario,
        {name: demand.teu_per_request for name, demand in declared.items()},
        {name: change.requests_per_s for name, change in classes.items()},
        load.deficit_teu_per_s,
    )
    return WhatIf(
        scenario,
        classes,
        Load(before, safe_teu_per_s(document.fleet)),
        load,
        _lost_routes(document.fleet, scenario),
        () if load.fits else allowed(shortage),
        () if load.fits else renegotiable(shortage),
    )


def lost_devices(fleet: Fleet, scenario: Scenario) -> int:
    """Devices that don't serve the generation; a group that is only counted is a full one."""
    numbered = sum(devices_in_group(fleet, group) for group in scenario.lost)
    counted = min(scenario.lost_groups * fleet.group_size, fleet.devices)
    return min(numbered + counted + scenario.lent_devices, fleet.devices)


def _lost_routes(fleet: Fleet, scenario: Scenario) -> tuple[str, ...]:
    """By the numbered groups; losing all groups loses every placed route."""
    gone = set(scenario.lost)
    if scenario.lost_groups + len(gone) >= groups_of(fleet):
        return tuple(fleet.placement)
    return tuple(route for route, groups in fleet.placement.items() if set(groups) <= gone)


def trials(document: PolicyDocument) -> dict[str, Load]:
    """What every proposal is read against: as declared, a spike, a lost group, a candidate.

    The candidate holds one device group beside the incumbent, which serves on the rest.
    """
    fleet, demand = document.fleet, offered_teu_per_s(document)
    whole, without = safe_teu_per_s(fleet), safe_teu_per_s(fleet, fleet.group_size)
    return {
        "steady": Load(demand, whole),
        "spike": Load(demand * SPIKE_FACTOR, whole),
        "group_loss": Load(demand, without),
        "candidate_overlap": Load(demand, without),
    }


def steady(document: PolicyDocument) -> Load:
    """Declared demand on the whole fleet."""
    return trials(document)["steady"]


def group_loss(document: PolicyDocument) -> Load:
    """Declared demand after one group of devices is gone."""
    return trials(document)["group_loss"]


def spike(document: PolicyDocument) -> Load:
    """Every class at `SPIKE_FACTOR` times its declared arrivals."""
    return trials(document)["spike"]


def candidate_overlap(document: PolicyDocument) -> Load:
    """Declared demand while a candidate holds one device group."""
    return trials(document)["candidate_overlap"]


def equal_price_share(document: PolicyDocument) -> Decimal | None:
    """What counting requests charges each of them: its part of all that arrive in a second.

    None where nothing arrives.
    """
    requests = offered_requests_per_s(document)
    return 1 / requests if requests else None
