"""The shape of a change that was taken apart, and its ranking."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

HALF = Fraction(1, 2)
NOTHING = Fraction(0)


class Effect(StrEnum):
    """What kind of difference a part of a change is."""

    MIX = "mix"
    """The segment is a larger or smaller part of the traffic."""
    ROUTE = "route"
    """Within the segment another route serves (or none admits) more of it."""
    OUTCOME = "outcome"
    """The same route in the same segment ends otherwise more or less often."""
    PRICE = "price"
    """A TEU costs more or less: the fleet's dollars over the work that it got."""
    DEMAND = "demand"
    """A request of the segment takes more or less TEU."""
    STATED = "stated"
    """Attempts of the segment stated more or fewer dollars of their own."""
    EVIDENCE = "evidence"
    """The evidence of the segment scores otherwise."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a change in the figure's own unit, and what it is about ("" is the whole)."""

    effect: Effect
    segment: str
    value: Fraction
    route: str = ""
    outcome: str = ""

    def scaled(self, by: Fraction) -> "Part":
        """The same part of a figure that is a multiple of this one."""
        return Part(self.effect, self.segment, self.value * by, self.route, self.outcome)


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that belong together under a name, largest first, and their sum."""

    name: str
    value: Fraction
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure before and after with its parts, which sum to the difference exactly.

    A figure that a side does not have (nothing was counted, nothing succeeded) is None, and then
    there are no parts.
    """

    before: Fraction | None
    after: Fraction | None
    parts: tuple[Part, ...] = ()

    @property
    def value(self) -> Fraction | None:
        """After minus before."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before

    def by_segment(self) -> list[Group]:
        """The parts by segment, the largest sum (of either sign) first."""
        return grouped(self.parts, lambda part: part.segment)

    def ranked(self) -> list[Part]:
        """Every part that is not nothing, the largest (of either sign) first."""
        return sorted((part for part in self.parts if part.value), key=_largest_part)


def grouped(parts: Iterable[Part], name: Callable[[Part], str]) -> list[Group]:
    """Parts by a name, the largest sum (of either sign) first; equal sums by name."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        if part.value:
            found.setdefault(name(part), []).append(part)
    groups = [
        Group(key, total(some), tuple(sorted(some, key=_largest_part)))
        for key, some in found.items()
    ]
    return sorted(groups, key=lambda group: (-abs(group.value), group.name))


def total(parts: Iterable[Part]) -> Fraction:
    """The sum of the parts."""
    return sum((part.value for part in parts), NOTHING)


def middle(first: Fraction, second: Fraction) -> Fraction:
    """Halfway between two values."""
    return (first + second) * HALF


def either(before: Fraction | None, after: Fraction | None) -> tuple[Fraction, Fraction]:
    """Both sides of a rate; one that a side does not have is taken to be the other's.

    What appears or disappears is then a matter of its weight alone.
    """
    known = before if before is not None else after
    assert known is not None, "one of the sides has the rate"
    return (known if before is None else before), (known if after is None else after)


def over(part: int | Fraction, whole: int | Fraction) -> Fraction | None:
    """A rate; None where there is nothing to take it of."""
    return Fraction(part) / Fraction(whole) if whole else None


def weighted(
    effect: Effect,
    weights: Sequence[dict[tuple[str, str], Fraction]],
    rates: Sequence[dict[tuple[str, str], Fraction]],
) -> list[Part]:
    """The parts of a change of sum(weight x rate): the mix of cells, and the rate of each.

    `weights` and `rates` are of before and after, by (segment, route); weights of a side sum to 1.
    """
    sums = [_product(w, r) for w, r in zip(weights, rates, strict=True)]
    centre, parts = middle(*sums), []
    for key in sorted({*weights[0], *weights[1]}):
        share = [side.get(key, NOTHING) for side in weights]
        rate = either(rates[0].get(key), rates[1].get(key))
        mix = (share[1] - share[0]) * (middle(*rate) - centre)
        parts.append(Part(Effect.MIX, key[0], mix, key[1]))
        parts.append(Part(effect, key[0], middle(*share) * (rate[1] - rate[0]), key[1]))
    return parts


def _product(
    weights: dict[tuple[str, str], Fraction], rates: dict[tuple[str, str], Fraction]
) -> Fraction:
    return sum((share * rates[key] for key, share in weights.items()), NOTHING)


def _largest_part(part: Part) -> tuple[Fraction, str, str, str, str]:
    return -abs(part.value), part.segment, part.effect, part.route, part.outcome
