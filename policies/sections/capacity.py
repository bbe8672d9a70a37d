"""What the fleet can carry: as declared, in a spike, after a loss."""

from collections.abc import Sequence
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine import capacity
from orchid.engine.document.model import PolicyDocument
from policies.sections.demand import priced

_COLUMNS = (
    Column("Case"),
    *(Column(label, numeric=True) for label in ("Demand", "Safe capacity", "Left", "Headroom")),
)


def scenarios(document: PolicyDocument) -> list[tuple[str, capacity.Load]]:
    """Every case that a proposal is checked in; none where a route has no price."""
    if not priced(document):
        return []
    return [
        ("Steady", capacity.steady(document)),
        (f"Spike of {capacity.SPIKE_FACTOR}×", capacity.spike(document)),
        ("One group lost", capacity.group_loss(document)),
        ("A candidate holds one group", capacity.candidate_overlap(document)),
    ]


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
