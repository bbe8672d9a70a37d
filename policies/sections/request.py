"""One request on trial: the form's fields, and the decision with every constraint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine.admission.request import Constraint, Decision, Offer
from orchid.engine.document.model import PolicyDocument
from orchid.engine.explanation import (
    MOST_LOAD,
    AskedError,
    Explanation,
    explain,
    read_asked,
)
from orchid.engine.pricing import UnpricedModelError
from orchid.engine.timing import deadline_ms

_NUMBERS = ("input_tokens", "max_output_tokens", "cached_input_tokens", "deadline_in_ms")
IDLE = ("load", "0")
_LABELS = {
    "input_tokens": "Input tokens",
    "max_output_tokens": "Output cap",
    "cached_input_tokens": "Cached input tokens",
    "deadline_in_ms": "Deadline in ms",
}


@dataclass(frozen=True)
class Field:
    """A field of the form: its choices where it has any, else a number with a placeholder."""

    name: str
    label: str
    value: str
    hint: str = ""
    choices: Sequence[str] = ()


@dataclass(frozen=True)
class Trial:
    """What was asked, and what came of it; neither problem nor answer before anything is asked."""

    fields: list[Field]
    load: str
    problem: str = ""
    explanation: Explanation | None = None

    @property
    def most_load(self) -> int:
        return MOST_LOAD

    @property
    def is_particular(self) -> bool:
        """Whether something beside the class is asked for."""
        return any(field.value for field in self.fields if not field.choices)

    @property
    def words(self) -> str:
        """The same question on a command line."""
        given = {field.name: field.value for field in self.fields} | {"load": self.load}
        said = {name: value for name, value in given.items() if value and (name, value) != IDLE}
        return ",".join(f"{name}={value}" for name, value in said.items())

    @property
    def facts(self) -> list[tuple[str, str]]:
        return [] if self.explanation is None else _facts(self.explanation.decision)

    @property
    def constraints(self) -> Table | None:
        found = () if self.explanation is None else self.explanation.decision.explained
        if not found:
            return None
        columns = [Column(label) for label in ("Option", "Question", "Answer", "Arithmetic")]
        return Table("Every question in its order", columns, [_row(one) for one in found])


def trial(document: PolicyDocument, words: Mapping[str, str]) -> Trial:
    """Read the address and decide; an address without a class asks nothing."""
    fields, load = _fields(document, words), words.get("load", "").strip() or "0"
    if not words.get("class", "").strip():
        return Trial(fields, load)
    known = {name: words.get(name, "") for name in [*(field.name for field in fields), "load"]}
    try:
        return Trial(fields, load, explanation=explain(document, read_asked(known, document)))
    except (AskedError, UnpricedModelError) as error:
        return Trial(fields, load, problem=str(error))


def _fields(document: PolicyDocument, words: Mapping[str, str]) -> list[Field]:
    cls = words.get("class", "")
    declared = document.classes.get(cls)
    defaults: dict[str, int | None] = {
        "input_tokens": declared.input_tokens if declared else None,
        "max_output_tokens": declared.max_output_tokens if declared else None,
        "cached_input_tokens": 0,
        "deadline_in_ms": deadline_ms(document, cls),
    }
    numbers = [
        Field(name, _LABELS[name], words.get(name, ""), _hint(defaults[name])) for name in _NUMBERS
    ]
    return [
        Field("class", "Class", cls, choices=list(document.classes)),
        *_dimensions(document, words),
        *numbers,
        Field("tenant", "Tenant", words.get("tenant", ""), "any"),
    ]


def _hint(default: int | None) -> str:
    return "as declared" if default is None else f"{default:,}"


def _dimensions(document: PolicyDocument, words: Mapping[str, str]) -> list[Field]:
    """Dimensions that a request brings along; those of its lengths follow from the lengths."""
    return [
        Field(name, name.replace("_", " ").capitalize(), words.get(name, ""), "as declared")
        for name in document.segments.dimensions
        if name not in document.segments.buckets
    ]


def _facts(decision: Decision) -> list[tuple[str, str]]:
    shape = decision.shape
    shown = [
        ("Requested route", shape.route or "none"),
        ("Shape", f"{shape.input_tokens:,} input tokens, {shape.output_tokens:,} of output"),
        ("Segment", ", ".join(f"{k} {v}" for k, v in sorted(shape.dimensions.items())) or "none"),
        ("Deadline", f"{_ms(shape.deadline_ms)} after its arrival"),
    ]
    if decision.offer is not None:
        shown += _offered(decision.offer)
    elif decision.deferral is not None:
        shown.append(("May come back", f"after {decision.deferral.after_ms:,} ms"))
    elif decision.refusal is not None:
        again = decision.refusal.after_ms
        words = "not at all" if again is None else f"after {again:,} ms"
        shown.append(("May come back", words if decision.refusal.retryable else "not at all"))
        shown.append(("HTTP status", str(decision.refusal.status)))
    return shown


def _offered(offer: Offer) -> list[tuple[str, str]]:
    predicted = offer.prediction
    parts = [
        ("queue", predicted.queue_ms),
        ("prefill", predicted.prefill_ms),
        ("decode", predicted.decode_ms),
    ]
    timed = ", ".join(f"{name} {_ms(ms)}" for name, ms in parts if ms is not None)
    return [
        ("Served by", f"{offer.route} on {offer.replica or offer.pool}"),
        ("Reserves", f"{figures.shortest(offer.teu)} TEU, {offer.live_tokens:,} live tokens"),
        ("Predicted completion", f"{_ms(offer.completion_ms)} ({timed})"),
        ("Begins", "after waiting in the queue" if offer.wait else "at once"),
    ]


def _ms(value: float) -> str:
    return figures.milliseconds(Decimal(repr(value)), Decimal())


def _row(one: Constraint) -> tuple[str, str, str, str]:
    answer = "passed" if one.reason is None else str(one.reason).replace("_", " ")
    return one.option.replace("_", " "), one.step, answer, one.text
