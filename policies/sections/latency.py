"""Which part of the way takes how much of each class's deadline."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from controlplane import figures
from controlplane.web import Column, Plot, Table
from orchid.engine.document.model import PolicyDocument
from orchid.engine.latency_budget import LatencyBudget, latency_budget

NOTE = (
    "Every part is a bound on its own stretch of the way for the class's declared shape on a warm "
    "replica, so their sum bounds the whole. Percentiles of stages are never added up: what the "
    "fleet does under load is measured on whole responses, by the gates."
)
#: Alternating depths of two tokens, so that neighbours differ in light and in dark.
_COLORS = {
    "network": ("--line-strong", 0.55),
    "retrieval": ("--line-strong", 0.85),
    "queue": ("--inconclusive", 0.8),
    "fixed": ("--line-strong", 1.0),
    "prefill": ("--accent", 0.55),
    "decode": ("--accent", 1.0),
    "reserve": ("--pass", 0.7),
}


def budgets(document: PolicyDocument) -> list[LatencyBudget]:
    """By class, those of routes that declare their timing."""
    found = (latency_budget(document, name) for name in document.classes)
    return [one for one in found if one is not None]


def latency_plot(document: PolicyDocument) -> Plot | None:
    """Stacked parts of each class's deadline, beside the table; None without any timing."""
    found = budgets(document)
    if not found:
        return None
    layout = {
        "barmode": "stack",
        "bargap": 0.4,
        "xaxis": {"title": {"text": "ms"}, "rangemode": "tozero"},
        "yaxis": {"automargin": True},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 8},
    }
    traces = [*_parts(found[::-1]), _deadlines(found[::-1])]
    return Plot(
        element_id="latency-figure",
        title="What takes each class's deadline",
        figure_json=json.dumps({"data": traces, "layout": layout}, allow_nan=False),
        table=latency_table(found),
        note=NOTE,
    )


def _parts(found: Sequence[LatencyBudget]) -> list[dict[str, Any]]:
    names = [term.name for term in found[0].terms]
    return [
        _bars(name, found, [one.terms[index].ms for one in found])
        for index, name in enumerate(names)
        if any(one.terms[index].ms for one in found)
    ]


def _bars(name: str, found: Sequence[LatencyBudget], ms: Sequence[float]) -> dict[str, Any]:
    color, opacity = _COLORS.get(name, ("--line-strong", 1.0))
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [_label(one) for one in found],
        "x": list(ms),
        "hovertemplate": "%{y}: " + name + " %{x:,.0f} ms<extra></extra>",
        "marker": {"color": color, "opacity": opacity, "line": {"color": "--surface", "width": 1}},
    }


def _deadlines(found: Sequence[LatencyBudget]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "deadline",
        "y": [_label(one) for one in found],
        "x": [one.deadline_ms for one in found],
        "hovertemplate": "%{y}: deadline %{x:,.0f} ms<extra></extra>",
        "marker": {
            "symbol": "line-ns-open",
            "size": 26,
            "color": "--fail",
            "line": {"color": "--fail", "width": 3},
        },
    }


def _label(found: LatencyBudget) -> str:
    return found.cls.replace("_", " ")


def latency_table(found: Sequence[LatencyBudget]) -> Table:
    parts = [Column(term.name.capitalize(), numeric=True) for term in found[0].terms]
    rest = ("Together", "Deadline", "Left", "Largest output that fits")
    return Table(
        "Latency budget by class, ms",
        [Column("Class"), *parts, *(Column(label, numeric=True) for label in rest)],
        [_row(one) for one in found],
    )


def _row(found: LatencyBudget) -> tuple[str, ...]:
    return (
        found.cls,
        *(_ms(term.ms) for term in found.terms),
        _ms(found.total_ms),
        _ms(found.deadline_ms),
        _ms(found.spare_ms),
        f"{found.largest_output:,}",
    )


def _ms(value: float) -> str:
    return figures.decimals(Decimal(repr(value)), 0, Decimal())
