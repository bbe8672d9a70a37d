"""Where the live traffic lacks evidence."""

from dataclasses import dataclass

from gates.selectors.verdicts import latest, live_window
from policies.models import Product


@dataclass(frozen=True)
class Gap:
    """A cell of the live mix without evidence: its requests count as no success."""

    cell: str
    responses: int


def gaps(product: Product) -> list[Gap]:
    """The uncovered cells of the latest judgement, largest first."""
    window = live_window(product)
    evaluation = latest(window) if window else None
    mix = evaluation.figures.get("whole", {}).get("mix", []) if evaluation else []
    found = [Gap(row["cell"], row["responses"]) for row in mix if row["scores"] is None]
    return sorted(found, key=lambda gap: -gap.responses)
