"""The segments that a change of the document speaks of, by the keys that pages show."""

from collections import Counter
from collections.abc import Iterator

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import where_key

MOST = 100  # of a document that is new as a whole


def segments_touched(before: PolicyDocument | None, after: PolicyDocument) -> list[str]:
    """Segments whose floors, fallback rules or gates came, went or changed; in order, at most MOST.

    Rules for the whole of the traffic speak of no segment.
    """
    was, now = Counter(_rules(before) if before else ()), Counter(_rules(after))
    changed = {key for key, _ in (was - now) + (now - was) if key}
    return sorted(changed)[:MOST]


def _rules(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Each rule about a segment with the segment's key."""
    for floor in document.segments.floors:
        yield where_key(floor.where), repr(floor)
    for rule in document.fallback:
        yield where_key(rule.where), repr(rule)
    for segment in document.gates.segments:
        yield where_key(segment.where), repr(segment)
