"""Findings about guardrails and revisit conditions: what nothing measures, or never could fire."""

from collections.abc import Iterator

from orchid.engine.document.contract import Guardrail
from orchid.engine.document.errors import nearest
from orchid.engine.document.findings import Subject, Told
from orchid.engine.document.values import duration_text
from orchid.engine.measures import DIAGNOSTIC_ONLY, MEASURES, measure
from orchid.engine.segments import where_key
from orchid.engine.triggers import known_names, trigger, watched

DIAGNOSTIC = (
    "{} is diagnostic only: a busy accelerator explains a figure and is neither a gate nor a goal"
)


def guardrail_unknown(subject: Subject) -> Told:
    """A guardrail that nothing measures would hold for ever."""
    for place, guardrail in _guardrails(subject):
        found = measure(guardrail.measure)
        if found is None:
            yield f"{place}/measure", _unknown(guardrail.measure, tuple(MEASURES))
        elif found.compares:
            yield (
                f"{place}/measure",
                f"{found.name} compares with the traffic of the decision, which a stage has not "
                "got: make it a revisit condition",
            )


def guardrail_repeated(subject: Subject) -> Told:
    seen: dict[tuple[str, str], str] = {}
    for place, guardrail in _guardrails(subject):
        key = guardrail.measure, where_key(guardrail.where)
        if seen.setdefault(key, place) != place:
            yield place, f"{guardrail.measure} is bounded for the same requests by {seen[key]}"


def guardrail_window_under_step(subject: Subject) -> Told:
    step_s = subject.document.gates.step_s
    for place, guardrail in _guardrails(subject):
        if guardrail.window_ms < step_s * 1000:
            window = duration_text(guardrail.window_ms)
            yield f"{place}/window", f"{window} is shorter than one step of {step_s} s"


def revisit_unknown(subject: Subject) -> Told:
    """A condition that nothing measures would never reopen anything."""
    for i, condition in enumerate(subject.document.revisit):
        if trigger(condition.trigger) is None:
            yield f"/revisit/{i}/trigger", _unknown(condition.trigger, known_names())


def bound_on_the_good_side(subject: Subject) -> Told:
    """What gets worse upwards and is bounded from below alone stops nothing that is bad."""
    for place, name, has_max, has_min in _bounded(subject):
        found = measure(name)
        if found is None:
            continue
        if not (has_max if found.worse == "above" else has_min):
            missing = "max" if found.worse == "above" else "min"
            yield place, f"{name} gets worse {found.worse} its bound, and no {missing} is set"


def _bounded(subject: Subject) -> Iterator[tuple[str, str, bool, bool]]:
    for place, guardrail in _guardrails(subject):
        yield place, guardrail.measure, guardrail.max is not None, guardrail.min is not None
    own = {condition.trigger: i for i, condition in enumerate(subject.document.revisit)}
    for one in watched(subject.document):
        if one.condition.trigger in own:
            place = f"/revisit/{own[one.condition.trigger]}"
            has_max, has_min = one.condition.max is not None, one.condition.min is not None
            yield place, one.measure.name, has_max, has_min


def _guardrails(subject: Subject) -> Iterator[tuple[str, Guardrail]]:
    for i, guardrail in enumerate(subject.document.gates.guardrails):
        yield f"/gates/guardrails/{i}", guardrail


def _unknown(name: str, known: tuple[str, ...]) -> str:
    if name in DIAGNOSTIC_ONLY:
        return DIAGNOSTIC.format(name)
    hint = nearest(name, known) or f"known are {', '.join(known)}"
    return f"nothing measures {name}: {hint}"
