"""Can a trial support an advance? It declares how it was run, and what is left out counts.

A closed loop slows its own load down when the server slows, so overload never shows; a warm run
says nothing of a cold start; and evidence that leaves out what it cost, cancelled or checked can't
be weighed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

#: Characters of a declared fact.
LONGEST = 200


class Fact(StrEnum):
    """What a trial declares of itself."""

    LOOP = "loop"
    MIX = "mix"
    LENGTHS = "lengths"
    MANIFEST = "manifest"
    RESIDENCY = "residency"
    CACHE = "cache_state"
    BATCH = "batch"
    PADDING = "padding"
    DWELL = "queue_dwell"
    FIRST = "first_token_distribution"
    INTER = "inter_token_distribution"
    COMPLETION = "completion_distribution"
    CANCELLED = "cancelled_work"
    LATE = "late_work"
    PREEMPTION = "preemption"
    POLICY = "policy_checks"
    COST = "full_cost"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Fact.LOOP: "Loop type",
    Fact.MIX: "Request mix",
    Fact.LENGTHS: "Token lengths",
    Fact.MANIFEST: "Manifest",
    Fact.RESIDENCY: "Residency",
    Fact.CACHE: "Cache state",
    Fact.BATCH: "Batch",
    Fact.PADDING: "Padding",
    Fact.DWELL: "Queue dwell",
    Fact.FIRST: "First-token distribution",
    Fact.INTER: "Inter-token distribution",
    Fact.COMPLETION: "Completion distribution",
    Fact.CANCELLED: "Cancelled work",
    Fact.LATE: "Late work",
    Fact.PREEMPTION: "Preemption",
    Fact.POLICY: "Policy checks",
    Fact.COST: "Full cost",
}

#: Facts with fixed answers, and those that only data can give.
ANSWERS = {
    Fact.LOOP: ("open", "closed"),
    Fact.RESIDENCY: ("cold", "warm", "both"),
    Fact.CACHE: ("cold", "warm", "both"),
}
MEASURED = (Fact.FIRST, Fact.INTER, Fact.COMPLETION)
DECLARABLE = tuple(fact for fact in Fact if fact not in MEASURED)


class FactError(ValueError):
    """A declared fact that is none: its name, and what it may be."""


@dataclass(frozen=True)
class Support:
    """Whether a trial can support an advance, why not, and which facts it leaves out."""

    supports: bool
    reasons: tuple[str, ...]
    missing: tuple[Fact, ...]


def declared_facts(given: Mapping[str, str]) -> dict[str, str]:
    """The declared facts among named values, blank ones left out; raises FactError."""
    declared: dict[str, str] = {}
    for fact in DECLARABLE:
        text = str(given.get(fact, "")).strip()
        if text:
            declared[fact] = _checked(fact, text)
    return declared


def support(
    facts: Mapping[str, str], *, simulated: bool = False, whole: bool = True, requests: int | None
) -> Support:
    """`facts` as told by the file and declared; `whole` is false when pieces of it were lost."""
    missing = tuple(fact for fact in Fact if not facts.get(fact))
    reasons = [*_regime(facts)]
    if simulated:
        reasons.append("It was computed by a simulator, not measured.")
    if not whole:
        reasons.append("Parts of the file were lost, or the run was stopped.")
    if not requests:
        reasons.append("It does not say how many requests it rests on.")
    if missing:
        reasons.append(f"Not declared: {', '.join(fact.label.lower() for fact in missing)}.")
    return Support(not reasons, tuple(reasons), missing)


def _regime(facts: Mapping[str, str]) -> list[str]:
    reasons = []
    if facts.get(Fact.LOOP) == "closed":
        reasons.append("Closed loop: a slow server slows its own load, so overload never shows.")
    if "warm" in (facts.get(Fact.RESIDENCY), facts.get(Fact.CACHE)):
        reasons.append("Warm only: it says nothing of a cold model or an empty cache.")
    return reasons


def _checked(fact: Fact, text: str) -> str:
    allowed = ANSWERS.get(fact)
    if allowed and text not in allowed:
        raise FactError(f"{fact} is one of {', '.join(allowed)}")
    if len(text) > LONGEST or not text.isprintable():
        raise FactError(f"{fact} takes up to {LONGEST} printable characters")
    return text
