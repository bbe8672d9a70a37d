"""Which manifests can stand in for one another, and which requests may share a batch or a cache."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchid.engine.document.canonical import MANIFEST_FIELDS, manifest_of
from orchid.engine.document.demand import Model
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import class_route


@dataclass(frozen=True, slots=True)
class Difference:
    """One part in which two manifests differ, as each names it; None where it names none."""

    part: str
    ours: str | None
    other: str | None


def compatible(manifest: Model, other: Model) -> list[Difference]:
    """What differs between two manifests; empty when either may finish the other's work.

    Another precision, tokenizer or adapter is another model: evidence and running sequences of one
    are nothing to the other.
    """
    ours, theirs = manifest_of(manifest), manifest_of(other)
    return [
        Difference(part, ours.get(part), theirs.get(part))
        for part in sorted(MANIFEST_FIELDS)
        if ours.get(part) != theirs.get(part)
    ]


@dataclass(frozen=True, slots=True)
class BatchMember:
    """What a request brings to a batch beside its route's manifest.

    `cache_cell` is the tenant or privacy cell inside which prefix cache may be shared;
    `constraints` names the set that its decoding is under, `slack_ms` is what its deadline leaves.
    """

    route: str
    model: Model
    modality: str = "text"
    topology: str = ""
    privacy_cell: str | None = None
    cache_cell: str | None = None
    constraints: str | None = None
    slack_ms: float | None = None


#: The parts of a manifest by which a batch is one execution.
BATCH_PARTS = ("weights", "adapter", "tokenizer", "precision", "runtime")
MEMBER_PARTS = ("modality", "topology", "privacy_cell", "cache_cell", "constraints")


def member_of(document: PolicyDocument, cls: str) -> BatchMember:
    """A request of the class's declared shape, with no tenant or privacy cell of its own."""
    route = class_route(document, cls)
    return BatchMember(route, document.models[route], document.classes[cls].modality)


def parted_by(
    members: Sequence[BatchMember], joining: BatchMember, batch_ms: float = 0.0
) -> list[str]:
    """What keeps a request out of a batch; empty when it may join.

    `batch_ms` is how long the batch runs with it: no member may be made to outlast its slack.
    """
    reasons: list[str] = []
    for member in members[:1]:
        differing = {difference.part for difference in compatible(member.model, joining.model)}
        reasons += [part for part in BATCH_PARTS if part in differing]
        reasons += [p for p in MEMBER_PARTS if getattr(member, p) != getattr(joining, p)]
    short = [m for m in (*members, joining) if m.slack_ms is not None and m.slack_ms < batch_ms]
    if short:
        least = min(member.slack_ms or 0.0 for member in short)
        reasons.append(f"slack: {least:g} ms left of the {batch_ms:g} ms that the batch runs")
    return reasons
