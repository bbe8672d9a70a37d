"""How a gate's figures are written on a page; the writing itself is in gates.wording."""

from django import template

from gates import wording
from gates.states import Metric

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
def metric_words(sentence: str) -> str:
    """A reason as it is stored, with each metric by the name that pages give it."""
    for metric in Metric:
        sentence = sentence.replace(metric.value, str(metric.label))
    return sentence
