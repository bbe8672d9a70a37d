"""Cost per success taken apart: what a request costs, and how many of them succeed.

Cost per success is u / a with u dollars per eligible request and a successes per eligible request.
The ledger's dollars reach a request by its TEU: u = p t + k with p dollars a TEU, t TEU a request
and k the dollars that attempts stated. Each product is split at its midpoint; so is the quotient:
u1/a1 - u0/a0 = (u1 - u0)(1/a0 + 1/a1)/2 - (u0 + u1)/2 (a1 - a0)/(a0 a1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from orchid.engine.diagnosis.cells import Cell, Key, strata
from orchid.engine.diagnosis.change import HALF, NOTHING, Change, Effect, Part, middle, weighted
from orchid.engine.diagnosis.shares import share_change

Amounts = dict[Key, Fraction]


@dataclass(frozen=True, slots=True)
class Spent:
    """A window's cells and the dollars of its ledger, without what attempts stated themselves."""

    cells: Sequence[Cell]
    ledger_usd: Fraction

    @property
    def eligible(self) -> int:
        return sum(cell.eligible for cell in self.cells)

    @property
    def successes(self) -> int:
        return sum(cell.successes for cell in self.cells)

    @property
    def usd(self) -> Fraction:
        return self.ledger_usd + sum((cell.usd for cell in self.cells), NOTHING)

    @property
    def teu(self) -> Fraction:
        return sum((cell.teu for cell in self.cells), NOTHING)

    @property
    def cost(self) -> Fraction | None:
        """Dollars a success; None without a success, which is no price."""
        return self.usd / self.successes if self.successes else None


def cost_change(before: Spent, after: Spent) -> Change:
    """The change of cost per success, in dollars; no parts where a side has no success."""
    costs = before.cost, after.cost
    if costs[0] is None or costs[1] is None:
        return Change(*costs)
    shares = share_change(strata(before.cells), strata(after.cells))
    rates = [Fraction(side.successes, side.eligible) for side in (before, after)]
    paid = [Fraction(side.usd, side.eligible) for side in (before, after)]
    inverse = (1 / rates[0] + 1 / rates[1]) * HALF
    lost = -middle(*paid) / (rates[0] * rates[1])
    parts = [part.scaled(inverse) for part in paid_parts(before, after)]
    parts += [part.scaled(lost) for part in shares.parts]
    return Change(costs[0], costs[1], tuple(parts))


def paid_parts(before: Spent, after: Spent) -> list[Part]:
    """The parts of a change of dollars per eligible request."""
    sides = (before, after)
    stated = [_per_request(side, [cell.usd for cell in side.cells]) for side in sides]
    parts = _weighted(Effect.STATED, sides, stated)
    if not (before.teu and after.teu):
        ledger = [Fraction(side.ledger_usd, side.eligible) for side in sides]
        return [*parts, Part(Effect.PRICE, "", ledger[1] - ledger[0])]
    prices = [side.ledger_usd / side.teu for side in sides]
    demand = [Fraction(side.teu, side.eligible) for side in sides]
    parts.append(Part(Effect.PRICE, "", middle(*demand) * (prices[1] - prices[0])))
    work = [_per_request(side, [cell.teu for cell in side.cells]) for side in sides]
    return parts + [part.scaled(middle(*prices)) for part in _weighted(Effect.DEMAND, sides, work)]


def _per_request(side: Spent, amounts: Sequence[Fraction]) -> tuple[Amounts, Fraction]:
    """By cell its amount per request, and what cells without an eligible request took of all."""
    rates = {
        cell.key: amount / cell.eligible
        for cell, amount in zip(side.cells, amounts, strict=True)
        if cell.eligible
    }
    pairs = zip(side.cells, amounts, strict=True)
    rest = sum((amount for cell, amount in pairs if not cell.eligible), NOTHING)
    return rates, rest / side.eligible


def _weighted(
    effect: Effect, sides: Sequence[Spent], rates: Sequence[tuple[Amounts, Fraction]]
) -> list[Part]:
    weights = [
        {cell.key: Fraction(cell.eligible, side.eligible) for cell in side.cells if cell.eligible}
        for side in sides
    ]
    parts = weighted(effect, weights, [rate for rate, _ in rates])
    return [*parts, Part(effect, "", rates[1][1] - rates[0][1], outcome="not eligible")]
