"""Findings about selectors: two rules that speak at once, and rules that never speak."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.quality import MODELLESS_ROUTES, FallbackRule, Floor
from orchid.engine.segments import Where, both, implies, specificity, where_key
from orchid.engine.selector_index import Bits, SelectorIndex, before, positions

#: Pairs compared one by one before the rest is compared as a whole.
FEW = 64


def ambiguous_floors(subject: Subject) -> Told:
    """Two floors that can speak for one request, equally specific, have to agree."""
    floors, index = subject.document.segments.floors, subject.floors
    wheres = [floor.where for floor in floors]
    agreeing: dict[float, Bits] = defaultdict(int)
    for i, floor in enumerate(floors):
        agreeing[floor.min_utility] |= 1 << i
    for i, floor in enumerate(floors):
        size = specificity(floor.where)
        tied = index.overlapping(floor.where) & index.of_size(size) & before(i)
        tied &= ~agreeing[floor.min_utility]
        for j in _unsettled(index, wheres, i, tied, index.over_size(size)):
            yield (
                f"/segments/floors/{i}",
                f"{_shown(floor)} asks {floor.min_utility}, {_shown(floors[j])} asks "
                f"{floors[j].min_utility}, and a request can match both: add a floor for both",
            )
            break


def _unsettled(
    index: SelectorIndex, wheres: Sequence[Where], i: int, tied: Bits, narrower: Bits
) -> Iterator[int]:
    """Those of the tied selectors whose overlap with selector `i` no narrower one takes whole."""
    for count, j in enumerate(positions(tied)):
        if count == FEW:
            left = tied & ~before(j)
            yield from _left(index, wheres, i, left, narrower)
            return
        if not index.covering(both(wheres[j], wheres[i])) & narrower:
            yield j


def _left(
    index: SelectorIndex, wheres: Sequence[Where], i: int, tied: Bits, narrower: Bits
) -> Iterator[int]:
    """The same for many: what each narrower selector takes is set aside at once."""
    for k in positions(narrower & index.overlapping(wheres[i])):
        rest = {
            name: value
            for name, value in wheres[k].items()
            if not implies(wheres[i], {name: value})
        }
        tied &= ~index.within(rest)
        if not tied:
            return
    for j in positions(tied):
        if not index.covering(both(wheres[j], wheres[i])) & narrower:
            yield j


def _shown(rule: Floor | FallbackRule) -> str:
    return where_key(rule.where) or "everything"


def floor_never(subject: Subject) -> Told:
    """A floor under which no request comes, or all of whose requests another floor judges."""
    for i, floor in enumerate(subject.document.segments.floors):
        size = specificity(floor.where)
        better = subject.floors.over_size(size) | subject.floors.of_size(size) & before(i)
        if not subject.arriving.overlapping(floor.where):
            yield f"/segments/floors/{i}", f"no declared request is in {_shown(floor)}"
        elif not speaks(subject, subject.floors, floor.where, better):
            yield (
                f"/segments/floors/{i}",
                f"more specific or earlier floors speak for every request in {_shown(floor)}",
            )


def speaks(subject: Subject, index: SelectorIndex, where: Where, better: Bits) -> bool:
    """Whether some kind of request in `where` is left over by every better rule."""
    return any(
        not index.covering(both(where, subject.arrivals[k].where)) & better
        for k in positions(subject.arriving.overlapping(where))
    )


def ambiguous_fallback(subject: Subject) -> Told:
    """Two rules for one route, equally specific, have to agree on which route serves first.

    Rules with the same selector are a ladder in the order of the document, and routes without a
    model come last whatever the order.
    """
    alike: dict[tuple[str | None, str | None, bool], Bits] = defaultdict(int)
    of_route: dict[str | None, Bits] = defaultdict(int)
    for k, (_, rule) in enumerate(subject.allowing):
        alike[rule.from_, rule.to, rule.prefer] |= 1 << k
        of_route[rule.from_] |= 1 << k
    index, wheres = subject.allowances, [rule.where for _, rule in subject.allowing]
    for k, (i, rule) in enumerate(subject.allowing):
        size = specificity(rule.where)
        tied = index.overlapping(rule.where) & index.of_size(size) & of_route[rule.from_]
        tied &= before(k) & ~alike[rule.from_, rule.to, rule.prefer]
        narrower = of_route[rule.from_] & index.over_size(size)
        for j in _unsettled(index, wheres, k, tied, narrower):
            place, other = subject.allowing[j]
            denied = subject.denials.covering(both(other.where, rule.where))
            if _disagree(rule, other) and not denied:
                yield (
                    f"/fallback/{i}",
                    f"{_said(rule)} and /fallback/{place} {_said(other)}, and a request can match "
                    "both: add a rule for both",
                )
                break


def _disagree(first: FallbackRule, second: FallbackRule) -> bool:
    if first.to == second.to:
        return first.prefer != second.prefer
    if first.prefer or second.prefer:
        return first.prefer and second.prefer
    last = {first.to, second.to} & set(MODELLESS_ROUTES)
    return not last and where_key(first.where) != where_key(second.where)


def _said(rule: FallbackRule) -> str:
    first = " first" if rule.prefer else ""
    return f"serves {_shown(rule)} by {rule.to}{first}"
