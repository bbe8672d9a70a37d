"""What moved a gate, as ranked bars with their table."""

import json
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from controlplane import figures
from controlplane.web import Column, Plot, Table
from gates.selectors.diagnosis import Diagnosis
from gates.states import Metric
from orchid.engine.diagnosis.change import Effect, Group, Part
from orchid.engine.document.wording import selector_words
from orchid.engine.segments import dims_of

#: As many bars as a picture can name; the table has every part.
DRAWN = 12
EFFECTS = {
    Effect.MIX: "part of the traffic",
    Effect.ROUTE: "route that serves",
    Effect.OUTCOME: "outcome",
    Effect.PRICE: "price of a TEU",
    Effect.DEMAND: "TEU a request",
    Effect.STATED: "stated dollars",
    Effect.EVIDENCE: "evidence",
}
_COLUMNS = (
    Column("Segment"),
    Column("What changed"),
    Column("Route"),
    Column("Outcome"),
    Column("Effect", numeric=True),
    Column("Of the change", numeric=True),
)


def segments_plot(found: Diagnosis) -> Plot:
    """The parts by segment: what made it worse to one side, what made it better to the other."""
    groups, whole = found.change.by_segment(), found.change.value or Fraction(0)
    return Plot(
        element_id="diagnosis-segments",
        title=f"{found.metric.label}: what each segment did",
        figure_json=json.dumps(_bars(found, groups[:DRAWN]), allow_nan=False),
        table=Table(
            "The change by segment",
            (
                Column("Segment"),
                Column("Mostly"),
                Column("Effect", numeric=True),
                Column("Of the change", numeric=True),
            ),
            [_segment_row(found.metric, group, whole) for group in groups],
        ),
        note="The parts sum to the change exactly. "
        f"{'Right' if _less_is_better(found.metric) else 'Left'} of 0 is worse.",
    )


def parts_table(found: Diagnosis) -> Table:
    """Every part of the change, the largest first."""
    whole = found.change.value or Fraction(0)
    rows = [_row(found.metric, part, whole) for part in found.change.ranked()]
    return Table("The change by segment, route and outcome", _COLUMNS, rows)


def value(metric: Metric, number: Fraction | None) -> str:
    """A figure of the gate; a share within a latency bound is told as a share."""
    if number is None:
        return figures.UNKNOWN
    exact = _decimal(number)
    if metric is Metric.COST:
        return figures.cost_usd(exact)
    return figures.decimals(exact, 4) if metric is Metric.UTILITY else figures.percent(exact, 2)


def effect(metric: Metric, number: Fraction) -> str:
    """A difference, with its sign; of shares in points."""
    exact = _decimal(number)
    if metric is Metric.COST:
        return figures.signed(figures.cost_usd(exact, Decimal(0)))
    if metric is Metric.UTILITY:
        return figures.signed(figures.decimals(exact, 4, Decimal(0)))
    return figures.signed(figures.percent(exact, 2, Decimal(0))).replace("%", "points")


def segment(key: str) -> str:
    """A segment in words; what is about none is about the fleet."""
    return selector_words(dims_of(key)) if key else "the fleet"


def _segment_row(metric: Metric, group: Group, whole: Fraction) -> list[str]:
    largest = group.parts[0]
    about = " ".join(word for word in (largest.route, largest.outcome.replace("_", " ")) if word)
    mostly = f"{EFFECTS[largest.effect]}: {about}" if about else EFFECTS[largest.effect]
    return [segment(group.name), mostly, effect(metric, group.value), _of(group.value, whole)]


def _row(metric: Metric, part: Part, whole: Fraction) -> list[str]:
    return [
        segment(part.segment),
        EFFECTS[part.effect],
        part.route or "–",
        part.outcome.replace("_", " ") or "–",
        effect(metric, part.value),
        _of(part.value, whole),
    ]


def _of(part: Fraction, whole: Fraction) -> str:
    """How much of the change a part is; against it where the sign is the other."""
    return figures.percent(_decimal(part / whole), 1) if whole else "–"


def _bars(found: Diagnosis, groups: Sequence[Group]) -> dict[str, Any]:
    shown = list(reversed(groups))
    worse = 1 if _less_is_better(found.metric) else -1
    colours = ["--fail" if group.value * worse > 0 else "--pass" for group in shown]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [float(group.value) for group in shown],
                "y": [_short(segment(group.name)) for group in shown],
                "text": [effect(found.metric, group.value) for group in shown],
                "hovertemplate": "%{y}: %{text}<extra></extra>",
                "textposition": "auto",
                "cliponaxis": False,
                "marker": {"color": colours},
                # One bar alone would fill the picture.
                "width": [min(0.8, 0.1 + 0.1 * len(shown))] * len(shown),
            }
        ],
        "layout": {
            "xaxis": {"title": {"text": "Effect on the gate"}, "nticks": 5, "zeroline": True},
            "yaxis": {"automargin": True},
            "showlegend": False,
        },
    }


def _short(text: str) -> str:
    return text if len(text) <= 44 else f"{text[:43]}…"


def _less_is_better(metric: Metric) -> bool:
    """The share without violation rises when it gets better, as every share does."""
    return metric is Metric.COST


def _decimal(number: Fraction) -> Decimal:
    with localcontext(prec=30):
        return Decimal(number.numerator) / Decimal(number.denominator)
