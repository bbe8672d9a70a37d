"""How a gate's figures are written on a page; the writing itself is in gates.wording."""

from collections.abc import Mapping
from typing import Any

from django import template

from gates import calibration_words, wording
from gates.states import Metric
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.verdicts import Calibration

register = template.Library()


@register.simple_tag
def figure(metric: str, text: wording.Given | None, bound: wording.Given | None = None) -> str:
    """A value in its metric's unit, told apart from its bound."""
    return wording.figure(metric, text, bound)


@register.filter
def bound(text: wording.Given, metric: str) -> str:
    """A bound with its direction."""
    return wording.bound(metric, text)


@register.filter
def change(text: str | None, metric: str) -> str:
    """A difference or a margin, with its sign."""
    return wording.change(metric, text)


@register.filter
def of(known: Mapping[Any, Any], key: Any) -> Any:
    """What is known of a key; None where nothing is."""
    return known.get(key)


@register.filter
def metric_words(sentence: str) -> str:
    """A reason as it is stored, with each metric by the name that pages give it."""
    for metric in Metric:
        sentence = sentence.replace(metric.value, str(metric.label))
    return sentence


@register.filter
def shape(cell: Cell) -> str:
    """A shape of calibration in words."""
    return calibration_words.shape(cell)


@register.filter
def version(name: str) -> str:
    """A version of model, runtime and hardware, by the digits that tell it from its neighbours."""
    return calibration_words.version(name)


@register.filter
def measure(name: Measure) -> str:
    """What is predicted."""
    return calibration_words.LABELS[name]


@register.filter
def amount(value: float) -> str:
    """Three digits that count."""
    return calibration_words.amount(value)


@register.filter
def ratio(value: float) -> str:
    """Observed over predicted."""
    return calibration_words.ratio(value)


@register.filter
def relative(value: float | None) -> str:
    """A relative change with its sign."""
    return calibration_words.change(value)


@register.inclusion_tag("gates/_calibration_verdict.html")
def calibration_verdict(verdict: Calibration) -> dict[str, str]:
    """A badge whose sign and word carry what its colour says."""
    badge = calibration_words.BADGES[verdict]
    label = calibration_words.VERDICTS[verdict]
    return {"badge": badge, "label": label, "sign": calibration_words.SIGNS[badge]}
