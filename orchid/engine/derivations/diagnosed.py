"""A declared diagnosis: its changes as quoted, and what follows from several of them."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.diagnosis.declared import Case, Told, tell


def _case(material: Material) -> Case:
    if material.case is None:
        raise FigureError("no diagnosis is declared beside the document")
    return material.case


def _quoted(material: Material, given: Given) -> Worked:
    """By a path of keys, as in `segments/0/schema_failures/after`."""
    path = given.text("at")
    value: Any = _case(material)
    for step in path.split("/"):
        if isinstance(value, tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif step.isidentifier() and step in type(value).__annotations__:
            value = getattr(value, step)
        else:
            raise FigureError(f"the diagnosis has nothing at {path}")
    if isinstance(value, float):
        value = Decimal(repr(value))
    if not isinstance(value, Decimal | int | str):
        raise FigureError(f"{path} is no single value")
    return Worked(value, {"at": path})


def _change(material: Material, given: Given) -> Worked:
    """Of a ratio after over before: 0.82 is 18 % less."""
    quoted = _quoted(material, given)
    return Worked(Decimal(str(quoted.value)) - 1, {**quoted.inputs, "ratio": quoted.value or 0})


def _of_told(read: Callable[[Told], Fraction]) -> Callable[[Material, Given], Worked]:
    def compute(material: Material, given: Given) -> Worked:
        case = _case(material)
        value = read(tell(case, material.document))
        inputs: dict[str, Value] = {
            "cost_per_admitted": case.cost_per_admitted,
            "cost_per_success": case.cost_per_success,
            "retries_per_failure": case.retries_per_failure,
        }
        for number, segment in enumerate(case.segments):
            failures = segment.schema_failures
            words = (str(failures.before), str(failures.after))
            inputs[f"schema_failures of segment {number}"] = words
        return Worked(Decimal(value.numerator) / Decimal(value.denominator), inputs)

    return compute


def _cause(material: Material, given: Given) -> Worked:
    """The segment with the largest part of the change in violations."""
    groups = tell(_case(material), material.document).violations.by_segment()
    inputs = {group.name: f"{group.value.numerator}/{group.value.denominator}" for group in groups}
    return Worked(groups[0].name if groups else None, inputs)


def _proposed(material: Material, given: Given) -> Worked:
    proposal = tell(_case(material), material.document).proposal
    if proposal is None:
        return Worked(None, {})
    brings = "yes" if proposal.brings_back else "no"
    return Worked(proposal.change.words, {"brings back": brings})


def _warned(material: Material, given: Given) -> Worked:
    latency = _case(material).completion_p95_ms
    warned = bool(tell(_case(material), material.document).warnings)
    return Worked(warned, {"before": Decimal(str(latency.before)), "excludes": latency.excludes})


DERIVATIONS = (
    Derivation(
        "diagnosis_value", "", Case, "quoted from the declared diagnosis", _quoted, declared=True
    ),
    Derivation("diagnosis_change", "share", Case, "the declared ratio - 1", _change),
    Derivation(
        "fewer_successes",
        "share",
        tell,
        "1 - (cost per admitted / cost per success)",
        _of_told(lambda told: told.fewer),
    ),
    Derivation(
        "failures_explain",
        "share",
        tell,
        "1 - what failures and their retries leave of the successes, at most",
        _of_told(lambda told: 1 - told.explained),
    ),
    Derivation(
        "unexplained",
        "share",
        tell,
        "1 - successes / what failures and retries explain",
        _of_told(lambda told: 1 - told.residual),
    ),
    Derivation("cause_segment", "", tell, "largest part of the change in violations", _cause),
    Derivation(
        "proposed_change", "", tell, "the smallest change that brings the gate back", _proposed
    ),
    Derivation(
        "p95_leaves_out_failures", "", tell, "the declared p95 excludes what never came", _warned
    ),
)
