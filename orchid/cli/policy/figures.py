"""Figures that options take: each within what its meaning allows, and never NaN."""

import math
from decimal import Decimal, InvalidOperation
from typing import Any

import click

#: No rate, price or count comes near it, and nothing that isn't zero comes under its inverse.
LARGEST = Decimal(10) ** 18
MOST_TOKENS = 10_000_000
HOUR_MS = 3_600_000


class DecimalType(click.ParamType[Decimal]):
    """An exact figure from zero (or above it) to a bound."""

    name = "decimal"

    def __init__(self, most: Decimal = LARGEST, *, above_zero: bool = False) -> None:
        self.most, self.above_zero = most, above_zero

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            found = Decimal(str(value))
        except InvalidOperation:
            self.fail(f"{value} is no decimal number", param, ctx)
        if not found.is_finite() or not self._least() <= found <= self.most:
            least = "a number above 0 and at most" if self.above_zero else "a number from 0 to"
            self.fail(f"{value} must be {least} {_spelled(self.most)}", param, ctx)
        return found

    def _least(self) -> Decimal:
        return 1 / LARGEST if self.above_zero else Decimal(0)


class FloatRange(click.FloatRange):
    """click's own lets NaN pass, which is in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is no number.", param, ctx)
        return found


def _spelled(most: Decimal) -> str:
    return f"{most:f}" if most < 10**6 else f"{most:.0e}"


DECIMAL, POSITIVE = DecimalType(), DecimalType(above_zero=True)
SHARE, INNER_SHARE = DecimalType(Decimal(1)), FloatRange(0, 1, min_open=True, max_open=True)
PART, MILLISECONDS = FloatRange(0, 1), FloatRange(0, HOUR_MS)
TOKENS = click.IntRange(0, MOST_TOKENS)
