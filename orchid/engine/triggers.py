"""What reopens a decision by itself: facts that always do, and measures that a document bounds.

A trigger is either a fact that pages of the gates and of ingest already hold (a gate breached, a
manifest that is not the generation's) or a measure of `measures.py` outside a bound. The document's
`revisit` list bounds measures; any measure may stand there under its own name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Revisit
from orchid.engine.measures import MEASURES, Measure, measure

Owner = Literal["product_owner", "sre"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """Its name, the role that its items wait for, and the measure it reads (None for a fact)."""

    name: str
    label: str
    owner: Owner
    measured_by: str | None = None


_EVERY = (
    Trigger("mix_change", "Traffic mix changed", "sre", "mix_shift"),
    Trigger("fallback_rise", "Fallback rose", "product_owner", "fallback_share"),
    Trigger(
        "early_termination_rise",
        "Early termination rose",
        "product_owner",
        "early_termination_share",
    ),
    Trigger("calibration_drift", "Calibration drifted", "sre", "teu_error"),
    Trigger("cache_allocation", "Cache allocation over its bound", "sre", "live_cache_share"),
    Trigger(
        "cancel_to_release", "Release after a cancel is slow", "sre", "cancel_to_release_max_ms"
    ),
    Trigger("escalation_rise", "Escalation nears break-even", "product_owner", "escalation_share"),
    Trigger("prefix_reads", "Prefix cache is read less", "sre", "prefix_read_share"),
    Trigger("segment_floor", "A segment is under its floor", "product_owner"),
    Trigger("gate_breach", "A gate is out of bounds", "product_owner"),
    Trigger("manifest_change", "Manifest, runtime or device changed", "sre"),
    Trigger("candidate_overlap", "Candidate and incumbent no longer fit together", "sre"),
    Trigger("upstream_unpinned", "An upstream can change under its name", "product_owner"),
)
TRIGGERS: Mapping[str, Trigger] = {one.name: one for one in _EVERY}
#: Watched in every product; a document's own condition of that name takes its place.
ALWAYS: tuple[Revisit, ...] = (
    Revisit.model_validate(
        {
            "trigger": "mix_change",
            "measure": "largest change of a class's share of input or output TEU",
            "max": 0.15,
            "window": "1d",
        }
    ),
)


@dataclass(frozen=True, slots=True)
class Watched:
    """A condition of a document with the measure that it bounds."""

    condition: Revisit
    trigger: Trigger
    measure: Measure


def trigger(name: str) -> Trigger | None:
    """The trigger of that name, a measure's own name included; None where nothing measures it."""
    if name in TRIGGERS:
        return TRIGGERS[name]
    found = measure(name)
    return None if found is None else Trigger(name, found.label, "sre", name)


def known_names() -> tuple[str, ...]:
    """Every name that a document may watch for."""
    return (*TRIGGERS, *MEASURES)


def watched(document: PolicyDocument) -> Iterator[Watched]:
    """The measured conditions: the document's own, and those that always hold."""
    named = {condition.trigger for condition in document.revisit}
    always = [condition for condition in ALWAYS if condition.trigger not in named]
    for condition in (*document.revisit, *always):
        found = trigger(condition.trigger)
        read = measure(found.measured_by) if found and found.measured_by else None
        if found is not None and read is not None:
            yield Watched(condition, found, read)
