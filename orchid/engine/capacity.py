"""What the fleet can carry, and what is left when load rises or devices are lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Fleet
from orchid.engine.pricing import demand_by_class, offered_teu_per_s


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


def device_teu_per_s(fleet: Fleet) -> Decimal:
    """What may be scheduled on one device."""
    return fleet.raw_teu_per_s * fleet.safe_factor


def safe_teu_per_s(fleet: Fleet, lost_devices: int = 0) -> Decimal:
    """What may be scheduled on the fleet without the lost devices."""
    return device_teu_per_s(fleet) * max(fleet.devices - lost_devices, 0)


def demand_teu_per_s(
    document: PolicyDocument, factors: Mapping[str, Decimal] | None = None
) -> Decimal:
    """Declared demand with the arrivals of each named class multiplied by its factor.

    A rise is recomputed by class: one percentage over the whole would hide what the class costs.
    """
    scale = factors or {}
    return sum(
        (
            d.teu_per_s * scale.get(name, Decimal(1))
            for name, d in demand_by_class(document).items()
        ),
        Decimal(),
    )


def what_if(
    document: PolicyDocument,
    *,
    factors: Mapping[str, Decimal] | None = None,
    lost_groups: int = 0,
    lent_devices: int = 0,
) -> Load:
    """Load when classes grow, device groups fail, or a candidate takes devices."""
    fleet = document.fleet
    lost = lost_groups * fleet.group_size + lent_devices
    return Load(demand_teu_per_s(document, factors), safe_teu_per_s(fleet, lost))


def steady(document: PolicyDocument) -> Load:
    """Declared demand on the whole fleet."""
    return what_if(document)


def group_loss(document: PolicyDocument) -> Load:
    """Declared demand after one group of devices is gone."""
    return what_if(document, lost_groups=1)


def spike(document: PolicyDocument, factor: Decimal) -> Load:
    """Every class at `factor` times its declared arrivals."""
    demand = offered_teu_per_s(document) * factor
    return Load(demand, safe_teu_per_s(document.fleet))


def equal_price_share(document: PolicyDocument) -> Decimal:
    """What request counting would charge each request: its part of all requests in a second."""
    requests = sum((c.arrivals_per_s for c in document.classes.values()), Decimal())
    return 1 / requests
