"""From when a scope is judged. A stage grows from its opening; what is live is judged by stretches.

A stretch starts anew every so many steps, so that a live window stays between one and two of them
long: each is a test of its own, and it costs the same to read in a year. With steps of a minute a
stretch is six hours.

Rare segments have a clock of their own: a scope's stretch starts anew only where it then holds
twice the scope's minimum sample; until then it grows from where it began, so that a segment of ten
requests a day comes to a verdict as well. Whether there is enough is seen from how many requests
came, never from how they went, and so it favours no verdict.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from orchid.engine.document.model import PolicyDocument
from orchid.engine.selector_index import SelectorIndex, positions
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.gates import Scope, scopes

STRETCH_STEPS = 360
#: Minimum samples that a stretch has to hold before a scope begins with it.
ENOUGH = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def floor(at: datetime, step: timedelta) -> datetime:
    """The start of the rollup step that holds the moment."""
    return at - (at - _EPOCH) % step


def begun(live_from: datetime | None, opened: datetime, end: datetime, step: timedelta) -> datetime:
    """When the youngest stretch of at least full length began; the opening for a stage."""
    if live_from is None:
        return opened
    stretch = STRETCH_STEPS * step
    before = max(0, (end - opened) // stretch - 1)
    start = opened + before * stretch
    return start if start > live_from else opened


def own_starts(
    document: PolicyDocument, young: Counted, known: Mapping[str, datetime], opened: datetime
) -> dict[str, datetime]:
    """The scopes that go on from an earlier start than `young`, with that start."""
    if young.start <= opened:
        return {}
    parts = scopes(document)
    return {
        scope.name: known.get(scope.name, opened)
        for scope, eligible in zip(parts, _eligible(parts, young), strict=True)
        if known.get(scope.name, opened) < young.start and eligible < _enough(document, scope)
    }


def _enough(document: PolicyDocument, scope: Scope) -> int:
    return ENOUGH * (scope.minimum or document.gates.attainment.minimum_sample)


def _eligible(parts: Sequence[Scope], counted: Counted) -> list[int]:
    """How many eligible requests each scope had."""
    index = SelectorIndex([scope.where for scope in parts])
    found = [0] * len(parts)
    for name, eligible in zip(counted.cells, counted.of("eligible").tolist(), strict=True):
        for place in positions(index.covering(name.dims)):
            found[place] += eligible
    return found
