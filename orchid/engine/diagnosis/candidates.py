"""Changes of policy that could bring a gate back, each with what the recorded counts become."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from orchid.engine.diagnosis.cells import Cell
from orchid.engine.diagnosis.change import NOTHING
from orchid.engine.diagnosis.expected import Expected, of_cell, of_cells, per_request
from orchid.engine.document.demand import Demand, TrafficClass
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import FallbackRule
from orchid.engine.document.wording import selector_words
from orchid.engine.measured import class_name
from orchid.engine.pricing import teu
from orchid.engine.segments import matches, segment_key

Key = tuple[str, str]
Cells = Sequence[Cell]
#: More prohibitions than this are no small change any more.
MOST_RULES = 4
#: Of so many segments, the worst, each is tried by itself.
MOST_SEGMENTS = 40
#: Cuts of a class's output cap that are tried, the smallest first.
CUTS = (Fraction(9, 10), Fraction(8, 10), Fraction(7, 10), Fraction(6, 10), Fraction(5, 10))


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a document: a value at a path, or ("+" last) one more item of a list."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change: its words, its edits, the requests it touches and the counts it leads to.

    `shifts` is what changes by cell's segment, so that the counts of any scope can be had.
    `assumes` says what the counts can't know.
    """

    words: str
    edits: tuple[Edit, ...]
    requests: Fraction
    shifts: tuple[tuple[Mapping[str, str], Expected], ...]
    assumes: tuple[str, ...]
    depth: Fraction = NOTHING
    """How far a limit is cut; of two that touch the same requests the shallower is smaller."""

    def counts(self, recorded: Expected, where: Mapping[str, Any]) -> Expected:
        """What the recorded sums of a scope become."""
        whole = recorded
        for dims, shift in self.shifts:
            if matches(where, dims):
                whole = whole.plus(shift)
        return whole


@dataclass(frozen=True, slots=True)
class Move:
    """The requests of a segment that a fallback serves, and what they would come to without it.

    `where` names the segment as a rule may.
    """

    cell: Cell
    where: Mapping[str, str]
    requests: Fraction
    shift: Expected


def fallback_moves(document: PolicyDocument, after: Cells, before: Cells) -> list[Move]:
    """Every segment's requests on a fallback, moved back to the route that they asked for.

    What the asked route does with them is what it did in the same segment under any load, in the
    window or else in the one before; without either the move is left out, for nothing is known.
    """
    moves, sides = [], [_by_policy(document, cells) for cells in (after, before)]
    for cell in after:
        asked = _asked(document.fallback, cell)
        if not (asked and cell.fallback):
            continue
        place = segment_key(policy_dims(document, cell)), asked
        rates = (per_request(side.get(place, ())) for side in sides)
        rate = next((rate for rate in rates if rate is not None), None)
        if rate is not None:
            moves.append(_moved(document, cell, rate))
    return moves


def unknown_moves(document: PolicyDocument, after: Cells, moves: Sequence[Move]) -> list[Cell]:
    """Cells on a fallback of which no window has seen the asked route in their segment."""
    known = {move.cell.key for move in moves}
    return [
        cell
        for cell in after
        if cell.fallback and cell.key not in known and _asked(document.fallback, cell)
    ]


def policy_dims(document: PolicyDocument, cell: Cell) -> dict[str, str]:
    """The dimensions that a rule may name: what was counted beside them is no part of a policy."""
    return {name: cell.dims[name] for name in document.segments.dimensions if name in cell.dims}


def denials(
    moves: Sequence[Move], unknown: Sequence[Cell], dimensions: Sequence[str]
) -> Iterator[Candidate]:
    """Prohibitions of fallback: of one value, of one whole segment, of several, of everything.

    What `unknown` cells would come to stays out of the counts and is said beside them.
    """
    seen: set[frozenset[Key]] = set()
    for wheres in _selectors(moves, dimensions):
        taken = [m for m in moves if any(matches(where, m.cell.dims) for where in wheres)]
        names = frozenset(move.cell.key for move in taken)
        if taken and names not in seen:
            seen.add(names)
            blind = [c for c in unknown if any(matches(where, c.dims) for where in wheres)]
            yield _denial(wheres, taken, blind)


def cuts(document: PolicyDocument, cells: Sequence[Cell]) -> Iterator[Candidate]:
    """Lower output caps: what each frees admits requests that were refused or put off."""
    whole = of_cells(cells)
    admitted = sum(cell.admitted for cell in cells)
    waiting = [(cell, _refused(cell)) for cell in cells if _refused(cell)]
    if not (admitted and waiting and whole.teu):
        return
    one = Expected().plus(whole, Fraction(1, admitted))
    for name, traffic in document.classes.items():
        mine = [c for c in cells if c.admitted and class_name(document, c.dims) == name]
        for cut in CUTS:
            cap = ceil(traffic.max_output_tokens * cut)
            freed = sum((_freed(document.demand, cell, traffic, cap) for cell in mine), NOTHING)
            if cap < (traffic.min_output_tokens or 1) or not freed:
                continue
            yield _cut(name, cap, mine, waiting, one, freed)


def _asked(rules: Sequence[FallbackRule], cell: Cell) -> str | None:
    fitting = [r for r in rules if r.to == cell.route and matches(r.where, cell.dims)]
    return fitting[0].from_ if fitting else None


def _by_policy(document: PolicyDocument, cells: Cells) -> dict[Key, list[Cell]]:
    """The cells by the segment that a rule may name, and route."""
    found: dict[Key, list[Cell]] = {}
    for cell in cells:
        place = segment_key(policy_dims(document, cell)), cell.route
        found.setdefault(place, []).append(cell)
    return found


def _moved(document: PolicyDocument, cell: Cell, rate: Expected) -> Move:
    """The fallback's part of the cell leaves, and as many come to the asked route."""
    part = Fraction(cell.fallback, cell.eligible)
    shift = Expected().plus(rate, Fraction(cell.fallback)).plus(of_cell(cell), -part)
    return Move(cell, policy_dims(document, cell), Fraction(cell.fallback), shift)


def _selectors(
    moves: Sequence[Move], dimensions: Sequence[str]
) -> Iterator[tuple[dict[str, str], ...]]:
    """Single values first, then whole segments, then several of them, then every request."""
    for name in dimensions:
        values = {move.where[name] for move in moves if name in move.where}
        for value in sorted(values):
            yield ({name: value},)
    whole: list[dict[str, str]] = []
    for move in sorted(moves, key=_worst_first):
        if dict(move.where) not in whole:
            whole.append(dict(move.where))
    for where in whole[:MOST_SEGMENTS]:
        yield (where,)
    for count in range(2, min(MOST_RULES, len(whole)) + 1):
        yield tuple(whole[:count])
    yield ({},)


def _worst_first(move: Move) -> tuple[Fraction, Fraction, str]:
    """By what moving them back gains: fewer violations, then more successes."""
    return move.shift.violations, -move.shift.successes, move.cell.segment


def _denial(
    wheres: Sequence[Mapping[str, str]], taken: Sequence[Move], blind: Sequence[Cell]
) -> Candidate:
    said = "; and ".join(selector_words(where) for where in wheres)
    rules = tuple(Edit(("fallback", "+"), {"deny": True, "where": dict(w)}) for w in wheres)
    return Candidate(
        f"no fallback where {said}" if any(wheres) else "no fallback for any request",
        rules,
        sum((move.requests for move in taken), Fraction(sum(cell.fallback for cell in blind))),
        tuple((move.cell.dims, move.shift) for move in taken),
        (
            "The asked route answers these requests as it answered its own in the same segment: "
            "its queue is not simulated.",
            *(_blind(cell) for cell in blind),
        ),
    )


def _refused(cell: Cell) -> int:
    return cell.ended.losses.get("rejected", 0) + cell.ended.losses.get("deferred", 0)


def _blind(cell: Cell) -> str:
    return (
        f"No window saw the asked route where {selector_words(cell.dims)}: what its "
        f"{cell.fallback:,} requests would come to is not known."
    )


def _freed(demand: Demand, cell: Cell, traffic: TrafficClass, cap: int) -> Fraction:
    """TEU that the cell's requests no longer reserve, at the class's declared input."""
    if cell.route not in demand.model_factor:
        return NOTHING
    was, now = (
        teu(demand, cell.route, traffic.input_tokens, tokens)
        for tokens in (traffic.max_output_tokens, cap)
    )
    return cell.teu * (1 - Fraction(now) / Fraction(was)) if was else NOTHING


def _cut(
    name: str,
    cap: int,
    mine: Sequence[Cell],
    waiting: Sequence[tuple[Cell, int]],
    one: Expected,
    freed: Fraction,
) -> Candidate:
    """The freed TEU admit as many of the refused as they pay for, alike in every segment."""
    refused = sum(count for _, count in waiting)
    part = min(Fraction(1), freed / one.teu / refused)
    shifts = [(cell.dims, _admitted(one, part * count)) for cell, count in waiting]
    shifts += [(cell.dims, Expected(teu=-freed / len(mine))) for cell in mine]
    return Candidate(
        f"{name}: at most {cap:,} output tokens",
        (Edit(("classes", name, "max_output_tokens"), cap),),
        Fraction(sum(cell.eligible for cell in mine)),
        tuple(shifts),
        (
            "Refusals are taken to be for want of capacity; the "
            f"{float(freed):,.0f} TEU that the cap frees admit requests that succeed as often as "
            "those that were admitted.",
            "How many answers are longer than the cap was not counted: they are bounded by it.",
        ),
        freed,
    )


def _admitted(one: Expected, count: Fraction) -> Expected:
    """So many refused requests that are admitted instead: their number is eligible already."""
    return Expected().plus(one, count).plus(Expected(eligible=one.eligible), -count)
