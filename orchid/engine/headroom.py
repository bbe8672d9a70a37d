"""How much of the fleet may be promised, and what the rest is kept for."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.operation import Fleet


def device_teu_per_s(fleet: Fleet) -> Decimal:
    """What may be scheduled on one device."""
    return fleet.raw_teu_per_s * fleet.safe_factor


def groups_of(fleet: Fleet) -> int:
    """Device groups that fail by themselves; the last one may be smaller."""
    return -(-fleet.devices // fleet.group_size)


def devices_in_group(fleet: Fleet, group: int) -> int:
    """Devices of a group counted from 1; none in a group that the fleet doesn't have."""
    before = (group - 1) * fleet.group_size
    return max(min(fleet.group_size, fleet.devices - before), 0) if group > 0 else 0


@dataclass(frozen=True, slots=True)
class HeadroomLedger:
    """The raw rate that isn't promised, line by line, as shares of the raw rate."""

    raw_teu_per_s: Decimal
    kept: Decimal
    lines: Mapping[str, Decimal]

    @property
    def named(self) -> Decimal:
        return sum(self.lines.values(), Decimal())

    @property
    def remainder(self) -> Decimal:
        """Zero when the lines account for all that is kept; negative when they claim more."""
        return self.kept - self.named

    @property
    def closes(self) -> bool:
        return self.remainder == 0

    def teu_per_s(self, line: str) -> Decimal:
        return self.lines[line] * self.raw_teu_per_s


def headroom_ledger(fleet: Fleet) -> HeadroomLedger | None:
    """The declared lines against 1 - safe factor; None where the document declares none."""
    if not fleet.headroom:
        return None
    raw = fleet.raw_teu_per_s * fleet.devices
    return HeadroomLedger(raw, 1 - fleet.safe_factor, dict(fleet.headroom))
