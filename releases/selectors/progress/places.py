"""At which stage each segment stands: together, until some are held back or go ahead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.errors import Conflict
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import Where, may_overlap, values_of
from policies.selectors import document_of
from releases.models import Rollout


@dataclass(frozen=True)
class Place:
    """A gated segment's stage; "" is everything that does not stand apart.

    What is `held` stays at its stage until somebody lets it go on.
    """

    segment: str
    stage: int
    held: bool = False


def places(rollout: Rollout) -> list[Place]:
    """The rest first, then the segments apart by name. Before the canary all stand together."""
    document = document_of(rollout.candidate_digest)
    rest = Place("", rollout.stage_index)
    if not document.rollout.stages[rest.stage].fraction:
        return [rest]
    known = {
        one["segment"]: Place(one["segment"], one["stage"], one["held"]) for one in rollout.vector
    }
    for name in document.rollout.apart:
        known.setdefault(name, Place(name, rest.stage))
    return [rest, *(known[name] for name in sorted(known))]


def vector_of(stands: Sequence[Place]) -> list[dict[str, Any]]:
    """As it is stored."""
    return [
        {"segment": place.segment, "stage": place.stage, "held": place.held}
        for place in stands
        if place.segment
    ]


def by_segment_of(document: PolicyDocument, stands: Sequence[Place]) -> list[dict[str, Any]]:
    """The segments of which another part is the candidate's than of the rest."""
    stages, rest = document.rollout.stages, stands[0]
    gated = wheres(document)
    return [
        {
            "segment": place.segment,
            "where": {name: list(values_of(value)) for name, value in gated[place.segment].items()},
            "fraction": stages[place.stage].fraction,
            "stage": place.stage,
        }
        for place in stands[1:]
        if stages[place.stage].fraction != stages[rest.stage].fraction
    ]


def wheres(document: PolicyDocument) -> dict[str, Where]:
    """The gated segments by name."""
    return {segment.name: segment.where for segment in document.gates.segments}


def refuse_apart(rollout: Rollout, segment: str) -> None:
    """Conflict where this segment can't have a stage of its own.

    `not_gated`: nothing judges it by itself. `not_a_stratum`: one stratum would have two fractions.
    `segments_overlap`: a request would be in two. `before_canary`: nobody is exposed yet.
    """
    document = document_of(rollout.candidate_digest)
    gated = wheres(document)
    if segment not in gated:
        known = ", ".join(gated) or "none"
        raise Conflict("not_gated", f"No gate judges {segment or 'that'} by itself ({known} are).")
    across = sorted(set(gated[segment]) - set(document.rollout.strata))
    if across:
        said = f"The strata don’t tell {', '.join(across)} apart, by which {segment} is known."
        raise Conflict("not_a_stratum", said)
    if not document.rollout.stages[rollout.stage_index].fraction:
        raise Conflict("before_canary", "Before the canary all segments stand together.")
    for place in places(rollout)[1:]:
        if place.segment != segment and may_overlap(gated[place.segment], gated[segment]):
            said = f"A request can be in {segment} and in {place.segment}, which stands apart."
            raise Conflict("segments_overlap", said)
