"""A share (attainment, within a bound, without violation) taken apart by mix, route and outcome."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from orchid.engine.diagnosis.cells import Stratum
from orchid.engine.diagnosis.change import Change, Effect, Part, either, middle, over

Segment = Mapping[str, Stratum]


def share_of(strata: Iterable[Stratum]) -> Fraction | None:
    """Good requests over all; None without any."""
    found = list(strata)
    return over(sum(one.good for one in found), sum(one.n for one in found))


def share_change(before: Sequence[Stratum], after: Sequence[Stratum]) -> Change:
    """The change of a share, with parts by segment, route and outcome."""
    shares = share_of(before), share_of(after)
    if shares[0] is None or shares[1] is None:
        return Change(*shares)
    sides = _by_segment(before), _by_segment(after)
    totals = sum(one.n for one in before), sum(one.n for one in after)
    centre = middle(shares[0], shares[1])
    parts: list[Part] = []
    for segment in sorted({*sides[0], *sides[1]}):
        mine = sides[0].get(segment, {}), sides[1].get(segment, {})
        weights = [Fraction(_n(some), whole) for some, whole in zip(mine, totals, strict=True)]
        rates = either(share_of(mine[0].values()), share_of(mine[1].values()))
        mix = (weights[1] - weights[0]) * (middle(*rates) - centre)
        parts.append(Part(Effect.MIX, segment, mix))
        if all(_n(some) for some in mine):
            parts += _within(segment, mine, middle(*weights))
    return Change(shares[0], shares[1], tuple(parts))


def _within(segment: str, sides: tuple[Segment, Segment], weight: Fraction) -> list[Part]:
    """What changed inside a segment that both sides have: who served, and how it ended."""
    sizes = _n(sides[0]), _n(sides[1])
    lost = [Fraction(_lost(some), n) for some, n in zip(sides, sizes, strict=True)]
    centre, parts = middle(*lost), []
    for route in sorted({*sides[0], *sides[1]}):
        mine = sides[0].get(route), sides[1].get(route)
        part = [Fraction(one.n if one else 0, n) for one, n in zip(mine, sizes, strict=True)]
        rates = either(_loss_rate(mine[0]), _loss_rate(mine[1]))
        moved = -weight * (part[1] - part[0]) * (middle(*rates) - centre)
        parts.append(Part(Effect.ROUTE, segment, moved, route))
        if mine[0] and mine[1]:
            parts += _outcomes(mine[0], mine[1], weight * middle(*part))
    return parts


def _outcomes(before: Stratum, after: Stratum, weight: Fraction) -> list[Part]:
    parts = []
    for outcome in sorted({*before.losses, *after.losses}):
        rates = [Fraction(one.losses.get(outcome, 0), one.n) for one in (before, after)]
        lost = -weight * (rates[1] - rates[0])
        parts.append(Part(Effect.OUTCOME, after.segment, lost, after.route, outcome))
    return parts


def _by_segment(strata: Iterable[Stratum]) -> dict[str, dict[str, Stratum]]:
    """By segment and route; what holds no request has no weight and no rate."""
    found: dict[str, dict[str, Stratum]] = {}
    for one in strata:
        if one.n:
            found.setdefault(one.segment, {})[one.route] = one
    return found


def _n(some: Segment) -> int:
    return sum(one.n for one in some.values())


def _lost(some: Segment) -> int:
    return sum(one.n - one.good for one in some.values())


def _loss_rate(one: Stratum | None) -> Fraction | None:
    return None if one is None else Fraction(one.n - one.good, one.n)
