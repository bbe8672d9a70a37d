"""What one of several edges may take of a limit that holds for the whole fleet.

Edges lie one after the other on a line from 0 to 1, each as long as its weight. Whole things
(requests, tokens) between two points of the line are what floors leave between them, so the slices
of all edges add up to exactly the limit, and every edge works its own out alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import msgspec

from orchid.engine.admission.budgets import DIGITS, Caps

ZERO, ONE = Fraction(0), Fraction(1)
MONEY_PLACES = Decimal("1e-18")  # as fine as a document may declare an amount


@dataclass(frozen=True, slots=True)
class Slice:
    """The stretch of the line that is one edge's."""

    begins: Fraction = ZERO
    ends: Fraction = ONE

    @property
    def part(self) -> Fraction:
        """Its length: the share of what is divisible."""
        return self.ends - self.begins

    def whole(self, limit: int) -> int:
        """Its share of an indivisible limit; those of all edges sum to the limit."""
        return math.floor(limit * self.ends) - math.floor(limit * self.begins)

    def places(self, limit: int) -> int:
        """The same of requests in flight, and one at least: an edge without any is none.

        More edges than places a replica therefore take more than the limit together.
        """
        return max(1, self.whole(limit))

    def rate(self, limit: float) -> float:
        """Its share of a rate or of an amount of work."""
        return limit * float(self.part)

    def amount(self, limit: Decimal) -> Decimal:
        """Its share of an amount that is counted exactly, rounded down."""
        if self == WHOLE:
            return limit
        with localcontext(prec=DIGITS, rounding=ROUND_FLOOR):
            exact = limit * self.part.numerator / self.part.denominator
            return exact.quantize(MONEY_PLACES)

    def caps(self, caps: Caps) -> Caps:
        """Its share of a tenant's budget in one window."""
        given = {
            unit: getattr(caps, unit) for unit in Caps.__struct_fields__ if unit != "window_ms"
        }
        capped = {unit: self._capped(most) for unit, most in given.items() if most is not None}
        return msgspec.structs.replace(caps, **capped)

    def _capped(self, most: int | Decimal) -> int | Decimal:
        return self.amount(most) if isinstance(most, Decimal) else self.whole(most)


WHOLE = Slice()


def grouped(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights by edge as a bundle holds them: edges of one weight are one key, by name."""
    groups: dict[float, list[str]] = {}
    for name in sorted(weights):
        groups.setdefault(weights[name], []).append(name)
    return {" ".join(names): weight for weight, names in groups.items()}


def slice_of(weights: Mapping[str, float], edge: str) -> Slice:
    """The edge's slice, by weights as a bundle holds them; without any one edge has the whole.

    An edge that came after the weights were signed has no stretch of its own: it takes as much as
    the least of the others until a new signature names it.
    """
    groups = [(names.split(" "), Fraction(weight)) for names, weight in weights.items()]
    total = sum((weight * len(names) for names, weight in groups), ZERO)
    if not total:
        return WHOLE
    mine = next((weight for names, weight in groups if edge in names), None)
    if mine is None:
        return Slice(ZERO, min(weight for _, weight in groups) / total)
    before = sum((weight * sum(one < edge for one in names) for names, weight in groups), ZERO)
    return Slice(before / total, (before + mine) / total)
