"""What the fleet can carry: as declared, in a spike, after a loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine import capacity
from orchid.engine.document.model import PolicyDocument
from orchid.engine.headroom import groups_of, headroom_ledger
from policies.sections.demand import priced

_COLUMNS = (
    Column("Case"),
    *(Column(label, numeric=True) for label in ("Demand", "Safe capacity", "Left", "Headroom")),
)


@dataclass(frozen=True)
class FleetFacts:
    """The fleet as it is declared, and its headroom in the case that it is planned for."""

    devices: int
    groups: int
    pool: str
    safe_teu_per_s: Decimal
    steady: capacity.Load | None


def fleet_facts(document: PolicyDocument) -> FleetFacts:
    fleet = document.fleet
    return FleetFacts(
        devices=fleet.devices,
        groups=groups_of(fleet),
        pool=fleet.pool or "",
        safe_teu_per_s=capacity.safe_teu_per_s(fleet),
        steady=capacity.steady(document) if priced(document) else None,
    )


def headroom_table(document: PolicyDocument) -> Table | None:
    """What the rate that isn't promised is kept for; None where the document doesn't say."""
    ledger = headroom_ledger(document.fleet)
    if ledger is None:
        return None
    lines = [
        (name.replace("_", " "), figures.percent(share), figures.shortest(ledger.teu_per_s(name)))
        for name, share in ledger.lines.items()
    ]
    left = "closes exactly" if ledger.closes else f"{figures.percent(ledger.remainder)} unnamed"
    kept = (f"Kept together ({left})", figures.percent(ledger.kept), "")
    columns = [Column("Line"), Column("Of the raw rate", True), Column("TEU/s", True)]
    return Table("What the headroom is for", columns, [*lines, kept])


def scenarios(document: PolicyDocument) -> list[tuple[str, capacity.Load]]:
    """Every case that a proposal is checked in; none where a route has no price."""
    if not priced(document):
        return []
    words = {
        "steady": "Steady",
        "spike": f"Spike of {capacity.SPIKE_FACTOR}×",
        "group_loss": "One group lost",
        "candidate_overlap": "A candidate holds one group",
    }
    return [(words[name], load) for name, load in capacity.trials(document).items()]


def scenario_table(document: PolicyDocument) -> Table:
    return load_table("Capacity by case, TEU/s", scenarios(document))


def load_table(caption: str, loads: Sequence[tuple[str, capacity.Load]]) -> Table:
    return Table(caption, _COLUMNS, [(name, *_cells(load)) for name, load in loads])


def _cells(load: capacity.Load) -> tuple[str, ...]:
    return (
        figures.shortest(load.demand_teu_per_s),
        figures.shortest(load.capacity_teu_per_s),
        figures.shortest(load.spare_teu_per_s),
        _headroom(load.headroom),
    )


def _headroom(share: Decimal | None) -> str:
    return figures.UNKNOWN if share is None else figures.percent(share, 1, Decimal())
