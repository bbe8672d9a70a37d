"""Figures by name: what each is computed from, and by which function of production.

A derivation names the function that decides in production, so a figure that holds here holds
there. Adding one is one line in the registry of its module.
"""

from collections.abc import Sequence

from orchid.engine.derivations import (
    arithmetic,
    demand,
    diagnosed,
    feature,
    fleet,
    memory,
    money,
    points,
    quoted,
)
from orchid.engine.derivations.asked import Asked, asked_figures
from orchid.engine.derivations.figure import Figure, figure_of
from orchid.engine.derivations.standard import standard_figures
from orchid.engine.derivations.worked import Derivation, FigureError, Material

__all__ = [
    "REGISTRY",
    "Asked",
    "Figure",
    "FigureError",
    "Material",
    "asked_figures",
    "derive",
    "standard_figures",
]

REGISTRY: dict[str, Derivation] = {
    derivation.name: derivation
    for module in (quoted, demand, fleet, money, memory, points, diagnosed, feature, arithmetic)
    for derivation in module.DERIVATIONS
}


def derive(asked: Sequence[Asked], material: Material) -> list[Figure]:
    """Every figure that is asked for; raises FigureError with the first that can't be."""
    return [figure_of(_named(one), one, material) for one in asked]


def _named(asked: Asked) -> Derivation:
    derivation = REGISTRY.get(asked.by)
    if derivation is None:
        raise FigureError(f"{asked.name}: no derivation is called {asked.by!r}")
    return derivation
