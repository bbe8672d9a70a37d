"""How a gate's figures are written on a page, each in its metric's unit."""

from decimal import Decimal
from typing import Any

from django import template

from gates.states import Metric

register = template.Library()

_MILLISECONDS = (Metric.COMPLETION, Metric.FIRST_TOKEN)


@register.filter
def figure(text: str | None, metric: str) -> str:
    """Decimal text in the metric's unit; an unknown figure says so."""
    if text is None:
        return "unknown"
    number = Decimal(text)
    if metric in _MILLISECONDS:
        return f"{number:,.0f} ms"
    if metric == Metric.COST:
        return f"-${-number:,f}" if number < 0 else f"${number:,f}"
    if metric == Metric.ATTAINMENT:
        return f"{number * 100:.2f} %"
    return f"{number:.4f}" if metric == Metric.UTILITY else f"{number:f}"


@register.filter
def signed(text: str | None, metric: str) -> str:
    """A change or a margin, with its sign."""
    if text is None:
        return "unknown"
    return figure(text, metric) if Decimal(text) < 0 else f"+{figure(text, metric)}"


@register.filter
def metric_label(metric: str) -> str:
    return str(Metric(metric).label) if metric in Metric.values else metric


@register.filter
def keyed(mapping: dict[str, Any], key: str) -> Any:
    """The value under a key; 0 where a sparse count has none."""
    return mapping.get(key, 0)
