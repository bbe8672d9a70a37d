"""How each measure is read off counted cells; `measures.py` names them.

What was not counted has no value, and never 0. Sums are exact; a value is a fraction until somebody
writes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, Protocol

from orchid.engine.document.model import PolicyDocument
from orchid.engine.rollup import FIGURES, Figure
from orchid.engine.segments import OUTPUT_BUCKET, matches
from orchid.engine.standing import DELIVERED_OUTCOMES


class Named(Protocol):
    """A cell's name: which route answered under which manifest."""

    @property
    def route(self) -> str: ...
    @property
    def manifest(self) -> str: ...


class Counts(Protocol):
    """What one cell (segment, route, manifest) counted in a window."""

    @property
    def name(self) -> Named: ...
    @property
    def dims(self) -> Mapping[str, str]: ...
    @property
    def counters(self) -> Mapping[str, int]: ...
    @property
    def figures(self) -> Mapping[str, Figure]: ...
    @property
    def teu(self) -> Decimal: ...


@dataclass(frozen=True, slots=True)
class Observed:
    """The cells that a measure is taken of, and what it may compare them with.

    `whole` is all traffic of the window, `baseline` that of the time the decision was taken on,
    `seconds` how long the window is.
    """

    document: PolicyDocument
    cells: Sequence[Counts]
    whole: Sequence[Counts]
    baseline: Sequence[Counts] = ()
    seconds: Decimal = Decimal(0)

    def of(self, *names: str) -> int:
        """Requests of some populations together."""
        return sum(cell.counters.get(name, 0) for cell in self.cells for name in names)

    def figure(self, name: str) -> Figure:
        """One figure over all cells."""
        whole = Figure()
        for cell in self.cells:
            if name in cell.figures:
                whole.merge(cell.figures[name])
        return whole


def observed(
    document: PolicyDocument,
    cells: Sequence[Counts],
    where: Mapping[str, str | tuple[str, ...]],
    baseline: Sequence[Counts] = (),
    seconds: Decimal = Decimal(0),
) -> Observed:
    """What a selector takes of a window and of its baseline."""
    chosen = [cell for cell in cells if matches(where, cell.dims)]
    before = [cell for cell in baseline if matches(where, cell.dims)]
    return Observed(document, chosen, cells, before, seconds)


class Reading(NamedTuple):
    """A measure's value (None when unknown), the requests behind it, and its worst part's name."""

    value: Fraction | None
    n: int
    part: str = ""


def share(part: str, *of: str) -> Callable[[Observed], Reading]:
    def read(seen: Observed) -> Reading:
        total = seen.of(*of)
        return Reading(_over(seen.of(part), total), total)

    return read


def mean(name: str) -> Callable[[Observed], Reading]:
    def read(seen: Observed) -> Reading:
        figure = seen.figure(name)
        return Reading(_over(figure.total, figure.count * FIGURES[name]), figure.count)

    return read


def largest(name: str) -> Callable[[Observed], Reading]:
    def read(seen: Observed) -> Reading:
        figure = seen.figure(name)
        known = Fraction(figure.maximum, FIGURES[name]) if figure.count else None
        return Reading(known, figure.count)

    return read


def _over(part: int, total: int) -> Fraction | None:
    return Fraction(part, total) if total else None


def completion(seen: Observed) -> Reading:
    admitted = seen.of("admitted")
    return Reading(_over(seen.of(*DELIVERED_OUTCOMES), admitted), admitted)


def worst_bucket(seen: Observed) -> Reading:
    """The length bucket that completes least; without buckets nothing is known."""
    buckets = _by(seen.cells, lambda cell: cell.dims.get(OUTPUT_BUCKET, ""))
    return _extreme({name: completion(_only(seen, found)) for name, found in buckets.items()}, min)


def live_cache(seen: Observed) -> Reading:
    """Mean live tokens over the live tokens that the document lets the fleet hold."""
    limits, figure = seen.document.admission.live_tokens, seen.figure("live_token_ms")
    if limits is None or not limits.per_device or not seen.seconds or not figure.count:
        return Reading(None, figure.count)
    room = limits.per_device * seen.document.fleet.devices
    held = Fraction(figure.total, FIGURES["live_token_ms"]) / (Fraction(seen.seconds) * 1000)
    return Reading(held / room, figure.count)


def attained(seen: Observed) -> Reading:
    """The part of all admitted demand that the selected requests attained."""
    whole = sum((cell.teu for cell in seen.whole), Decimal(0))
    mine = sum((cell.teu for cell in seen.cells), Decimal(0))
    value = Fraction(mine) / Fraction(whole) if whole else None
    return Reading(value, sum(cell.counters.get("admitted", 0) for cell in seen.whole))


def teu_error(seen: Observed) -> Reading:
    """|observed / predicted - 1| over the cells in which every request told both."""
    predicted, told = Figure(), Figure()
    for cell in seen.cells:
        both = cell.figures.get("teu_predicted"), cell.figures.get("teu_observed")
        if both[0] and both[1] and both[0].count == both[1].count:
            predicted.merge(both[0])
            told.merge(both[1])
    if not predicted.total:
        return Reading(None, 0)
    return Reading(abs(Fraction(told.total, predicted.total) - 1), predicted.count)


def mix_shift(seen: Observed) -> Reading:
    """The largest change of a class's share of the input or of the output TEU."""
    if not seen.baseline:
        return Reading(None, 0)
    shifts: dict[str, Reading] = {}
    for side in ("input_tokens", "output_tokens"):
        now, before = (_mix(seen.document, cells, side) for cells in (seen.cells, seen.baseline))
        if not now or not before:
            continue
        for name in {*now, *before}:
            moved = abs(now.get(name, Fraction(0)) - before.get(name, Fraction(0)))
            side_words = side.removesuffix("_tokens")
            shifts[f"{name}, {side_words}"] = Reading(moved, seen.of("admitted"))
    return _extreme(shifts, max)


def _mix(
    document: PolicyDocument, cells: Sequence[Counts], side: str
) -> dict[str, Fraction] | None:
    """Each class's share of the TEU of one side; None where no token was counted."""
    work: dict[str, Fraction] = {}
    for cell in cells:
        factor = document.demand.model_factor.get(cell.name.route)
        figure = cell.figures.get(side)
        if factor is not None and figure is not None:
            name = class_name(document, cell.dims)
            work[name] = work.get(name, Fraction(0)) + Fraction(factor) * figure.total
    total = sum(work.values(), Fraction(0))
    return {name: part / total for name, part in work.items()} if total else None


def class_name(document: PolicyDocument, dims: Mapping[str, str]) -> str:
    """The declared class that has these dimensions; its task where none was declared."""
    for name, traffic in document.classes.items():
        if traffic.dimensions and matches(traffic.dimensions, dims):
            return name
    return dims.get("task", "undeclared")


def escalation(seen: Observed) -> Reading:
    """Of the requests that a cascade asked the small route first, those that the large answered."""
    cascade = seen.document.routing.cascade
    if cascade is None:
        return Reading(None, 0)
    small = sum(c.counters.get("admitted", 0) for c in seen.cells if c.name.route == cascade.small)
    escalated = seen.of("escalated")
    return Reading(_over(escalated, small + escalated), small + escalated)


def prefix_reads(seen: Observed) -> Reading:
    """The route and manifest that reads the least part of its input from a prefix cache."""
    parts = _by(seen.cells, lambda cell: f"{cell.name.route} {cell.name.manifest[:15]}".strip())
    return _extreme({name: _cached_share(found) for name, found in parts.items()}, min)


def _cached_share(cells: Sequence[Counts]) -> Reading:
    read, given = Figure(), Figure()
    for cell in cells:
        both = cell.figures.get("cached_input_tokens"), cell.figures.get("input_tokens")
        if both[0] and both[1] and both[0].count == both[1].count:
            read.merge(both[0])
            given.merge(both[1])
    return Reading(_over(read.total, given.total), given.count)


def _by(cells: Iterable[Counts], name: Callable[[Counts], str]) -> dict[str, list[Counts]]:
    found: dict[str, list[Counts]] = {}
    for cell in cells:
        if name(cell):
            found.setdefault(name(cell), []).append(cell)
    return found


def _only(seen: Observed, cells: Sequence[Counts]) -> Observed:
    return Observed(seen.document, cells, seen.whole, seen.baseline, seen.seconds)


def _extreme(
    readings: Mapping[str, Reading], of: Callable[..., tuple[Fraction, str, int]]
) -> Reading:
    known = [(r.value, name, r.n) for name, r in readings.items() if r.value is not None]
    if not known:
        return Reading(None, 0)
    value, name, n = of(sorted(known))
    return Reading(value, n, name)
