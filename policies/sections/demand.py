"""What arrives and what it asks of the fleet, by class."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from controlplane import figures
from controlplane.web import Column, Plot, Table
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import ClassDemand, UnpricedModelError, demand_by_class

Priced = Sequence[tuple[str, ClassDemand]]
NOTE = (
    "Requests are what a counter sees; TEU are what the fleet works on. Where the two bars of a "
    "class differ, counting requests would plan for the wrong load."
)


def priced(document: PolicyDocument) -> list[tuple[str, ClassDemand]]:
    """Classes by demand, largest first; none where a route has no price, as a finding then says."""
    try:
        demands = demand_by_class(document)
    except UnpricedModelError:
        return []
    return sorted(demands.items(), key=lambda item: item[1].share_of_teu, reverse=True)


def demand_table(document: PolicyDocument) -> Table:
    columns = [Column("Class"), Column("Route")]
    numbers = ("Input", "Max output", "Requests/s", "of requests", "TEU each", "TEU/s", "of TEU")
    found = priced(document)
    return Table(
        "Demand by class",
        [*columns, *(Column(label, numeric=True) for label in numbers)],
        [*(_row(document, *item) for item in found), _together(found)] if found else [],
    )


def demand_brief(document: PolicyDocument) -> Table:
    """The same in four columns, for a narrow place."""
    return Table(
        "Demand by class",
        [Column("Class"), *(Column(label, numeric=True) for label in ("TEU each", "TEU/s"))],
        [
            (name, figures.shortest(demand.teu_per_request), figures.shortest(demand.teu_per_s))
            for name, demand in priced(document)
        ],
    )


def demand_plot(document: PolicyDocument) -> Plot:
    """Each class's part of the requests beside its part of the work."""
    found = priced(document)[::-1]
    bars = [
        _bars("of requests", "--line-strong", found, [d.share_of_requests for _, d in found]),
        _bars("of TEU", "--accent", found, [d.share_of_teu for _, d in found]),
    ]
    layout = {
        "barmode": "group",
        "bargap": 0.35,
        "xaxis": {"tickformat": ".0%", "rangemode": "tozero"},
        "yaxis": {"automargin": True},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 8},
    }
    return Plot(
        element_id="demand-figure",
        title="Each class's part of requests and of work",
        figure_json=json.dumps({"data": bars, "layout": layout}, allow_nan=False),
        table=demand_table(document),
        note=NOTE,
    )


def _bars(name: str, color: str, found: Priced, shares: Sequence[Decimal]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [cls.replace("_", " ") for cls, _ in found],
        "x": [float(share) for share in shares],
        "text": [figures.percent(share) for share in shares],
        "textposition": "auto",
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{text} " + name + "<extra></extra>",
        "marker": {"color": color},
    }


def _row(document: PolicyDocument, name: str, demand: ClassDemand) -> tuple[str, ...]:
    declared = document.classes[name]
    return (
        name,
        declared.model,
        f"{declared.input_tokens:,}",
        f"{declared.max_output_tokens:,}",
        figures.shortest(demand.requests_per_s),
        figures.percent(demand.share_of_requests),
        figures.shortest(demand.teu_per_request),
        figures.shortest(demand.teu_per_s),
        figures.percent(demand.share_of_teu),
    )


def _together(found: Priced) -> tuple[str, ...]:
    requests = sum((demand.requests_per_s for _, demand in found), Decimal())
    teu = sum((demand.teu_per_s for _, demand in found), Decimal())
    return ("Together", "", "", "", figures.shortest(requests), "", "", figures.shortest(teu), "")
