"""Columns of figures: whole parts and whether they were told, one place a request or an attempt."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchid.engine.rollup import FIGURES
from orchid.engine.wire.amounts import TEU_PARTS

Floats = NDArray[np.float64]
#: 64 bits, or Python's own numbers where an absurd amount needs them.
Wholes = NDArray[Any]
Mask = NDArray[np.bool_]

SAFE = 1 << 40
"""A sum of a million such numbers still has 64 bits."""


class Known(NamedTuple):
    """One figure of each: its parts, and whether it was told at all."""

    parts: Wholes
    told: Mask


def column(name: str, objects: Iterable[Any]) -> Floats:
    """A field of each as a number, NaN for None. What nobody tells costs next to nothing."""
    values = list(map(attrgetter(name), objects))
    if values.count(None) == len(values):
        return np.full(len(values), np.nan)
    return np.array(values, dtype=np.float64)


def known(name: str, values: Floats) -> Known:
    """A figure from its values. They are rounded half to even, as `parts_of` does."""
    told = ~np.isnan(values)
    return Known(np.rint(np.where(told, values, 0.0) * FIGURES[name]).astype(np.int64), told)


def known_teu(name: str, objects: Iterable[Any]) -> Known:
    """A field of each that holds an amount of TEU as text."""
    texts: list[str | None] = list(map(attrgetter(name), objects))
    told = np.array([text is not None for text in texts], dtype=np.bool_)
    return Known(wholes(TEU_PARTS.of(texts)), told)


def by_request(figure: Known, sizes: Wholes) -> Known:
    """Sums over each request's attempts; of none, nothing is told."""
    if len(figure.parts) == len(sizes) and (sizes == 1).all():
        return figure
    parts = np.zeros(len(sizes), dtype=figure.parts.dtype)
    told = np.zeros(len(sizes), dtype=np.bool_)
    some = sizes > 0
    if some.any():
        starts = (np.cumsum(sizes) - sizes)[some]
        parts[some] = np.add.reduceat(figure.parts, starts)
        told[some] = np.logical_or.reduceat(figure.told, starts)
    return Known(parts, told)


def wholes(values: list[int]) -> Wholes:
    """Whole numbers as a column."""
    largest = max(values, default=0)
    return np.array(values, dtype=np.int64 if largest < SAFE else object)
