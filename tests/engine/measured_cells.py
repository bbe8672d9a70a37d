"""Cells of counted traffic, made of the few figures that a test speaks of."""

from decimal import Decimal
from typing import Any

from orchid.engine.rollup import FIGURES, Figure
from orchid.engine.segments import dims_of
from orchid.engine.verdict.counted import CellName, CellSums


def cell(
    key: str = "task=assistant",
    route: str = "full",
    *,
    manifest: str = "sha256:m",
    teu: str = "0",
    usd: str = "0",
    figures: dict[str, Figure] | None = None,
    within: dict[str, int] | None = None,
    **counters: int,
) -> CellSums:
    """One cell; a bound that is given was compared with all that latency counts."""
    counted = counters.get("latency_counted", 0)
    return CellSums(
        CellName(key, route, manifest),
        dims_of(key),
        counters,
        {},
        within or {},
        dict.fromkeys(within or {}, counted),
        figures or {},
        Decimal(teu),
        Decimal(usd),
        counters.get("offered", 0),
    )


def figure(name: str, *values: float) -> Figure:
    """What so many requests with these values come to."""
    found = Figure()
    for value in values:
        parts = round(value * FIGURES[name])
        found.merge(Figure(1, parts, parts))
    return found


def fields(**changes: Any) -> dict[str, Any]:
    """The counters of requests that all succeeded, with changes."""
    n = changes.pop("n", 100)
    names = ("offered", "eligible", "admitted", "completed", "latency_counted")
    return dict.fromkeys((*names, "technical_success"), n) | changes
