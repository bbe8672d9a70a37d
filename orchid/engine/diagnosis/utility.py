"""The utility index taken apart: the mix of what served, and what evidence says of it."""

from collections.abc import Sequence
from fractions import Fraction

from orchid.engine.diagnosis.cells import Cell, Key
from orchid.engine.diagnosis.change import NOTHING, Change, Effect, weighted


def utility_of(cells: Sequence[Cell]) -> Fraction | None:
    """The index over the responses; None without any, or where one lacks evidence."""
    served = [cell for cell in cells if cell.served]
    total = sum(cell.served for cell in served)
    if not total or any(cell.score is None for cell in served):
        return None
    return sum((cell.score * cell.served for cell in served if cell.score), NOTHING) / total


def utility_change(before: Sequence[Cell], after: Sequence[Cell]) -> Change:
    """The change of the index, with parts by segment and route."""
    values = utility_of(before), utility_of(after)
    if values[0] is None or values[1] is None:
        return Change(*values)
    weights, scores = (
        [_mix(side) for side in (before, after)],
        [_scores(s) for s in (before, after)],
    )
    return Change(values[0], values[1], tuple(weighted(Effect.EVIDENCE, weights, scores)))


def _mix(cells: Sequence[Cell]) -> dict[Key, Fraction]:
    total = sum(cell.served for cell in cells)
    return {cell.key: Fraction(cell.served, total) for cell in cells if cell.served}


def _scores(cells: Sequence[Cell]) -> dict[Key, Fraction]:
    return {cell.key: cell.score for cell in cells if cell.served and cell.score is not None}
