"""A document's rows: written once beside their revision, never edited, so that SQL can ask."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Model as Row

from controlplane.errors import Invalid
from orchid.engine.clocks import latency_gates
from orchid.engine.document.canonical import manifest_digest, manifest_of
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import where_key
from policies.models import (
    FallbackRule,
    Floor,
    GateBound,
    GatedSegment,
    Manifest,
    Revision,
    Stage,
)

Where = dict[str, str | list[str]]
LONGEST_KEY = 400  # of a segment, with its names and values


def rows(revision: Revision, document: PolicyDocument) -> list[list[Any]]:
    """Every projection of the document, one list a table, none of them saved."""
    return [
        floors(revision, document),
        fallback_rules(revision, document),
        gate_bounds(revision, document),
        gated_segments(revision, document),
        stages(revision, document),
        manifests(revision, document),
    ]


def _key(where: Mapping[str, str | tuple[str, ...]]) -> str:
    """The segment's key; 422 for one that no column holds."""
    key = where_key(where)
    if len(key) > LONGEST_KEY:
        raise Invalid(
            "segment_too_long",
            f"The segment {key[:60]}... has {len(key)} characters; {LONGEST_KEY} have room.",
        )
    return key


def write(revision: Revision, document: PolicyDocument) -> None:
    for table in rows(revision, document):
        if table:
            model: type[Row] = type(table[0])
            model._default_manager.bulk_create(table)


def plain(where: Any) -> Where:
    """A selector as JSON."""
    return {key: value if isinstance(value, str) else list(value) for key, value in where.items()}


def floors(revision: Revision, document: PolicyDocument) -> list[Floor]:
    return [
        Floor(
            revision=revision,
            where=plain(floor.where),
            key=_key(floor.where),
            min_utility=floor.min_utility,
        )
        for floor in document.segments.floors
    ]


def fallback_rules(revision: Revision, document: PolicyDocument) -> list[FallbackRule]:
    return [
        FallbackRule(
            revision=revision,
            index=index,
            source=rule.from_ or "",
            target=rule.to or "",
            deny=rule.deny,
            prefer=rule.prefer,
            where=plain(rule.where),
        )
        for index, rule in enumerate(document.fallback)
    ]


def gate_bounds(revision: Revision, document: PolicyDocument) -> list[GateBound]:
    """One row a gate that the document has, under the name of its key."""
    gates = document.gates
    sampled: list[tuple[str, Any, Any, int | None]] = [
        *(
            (name, gate, gate.max, gate.minimum_sample)
            for name, gate in latency_gates(document).items()
        ),
        (
            "cost_per_success_usd",
            gates.cost_per_success_usd,
            gates.cost_per_success_usd.max,
            gates.cost_per_success_usd.minimum_successes,
        ),
        ("utility", gates.utility, gates.utility.min, None),
        ("attainment", gates.attainment, gates.attainment.min, gates.attainment.minimum_sample),
        ("violations", gates.violations, gates.violations.max, None),
    ]
    return [
        GateBound(
            revision=revision,
            metric=metric,
            bound=Decimal(str(bound)),
            window_ms=gate.window_ms,
            minimum_sample=sample,
        )
        for metric, gate, bound, sample in sampled
    ]


def gated_segments(revision: Revision, document: PolicyDocument) -> list[GatedSegment]:
    return [
        GatedSegment(
            revision=revision,
            name=segment.name,
            where=plain(segment.where),
            key=_key(segment.where),
            minimum_sample=segment.minimum_sample,
        )
        for segment in document.gates.segments
    ]


def stages(revision: Revision, document: PolicyDocument) -> list[Stage]:
    return [
        Stage(
            revision=revision,
            index=index,
            kind=stage.kind,
            fraction=stage.fraction,
            hold_ms=stage.hold_ms,
        )
        for index, stage in enumerate(document.rollout.stages)
    ]


def manifests(revision: Revision, document: PolicyDocument) -> list[Manifest]:
    return [
        Manifest(
            revision=revision,
            model=name,
            digest=manifest_digest(model),
            content=manifest_of(model),
        )
        for name, model in document.models.items()
    ]
