"""A diagnosis in words: what moved, between what, and what the proposal does to every gate."""

from decimal import Decimal
from fractions import Fraction

from controlplane import figures
from controlplane.web import Column, Table
from gates import wording
from gates.charts.diagnosis import effect, value
from gates.selectors.diagnosis import Diagnosis
from gates.states import Metric
from orchid.engine.diagnosis.proposal import Goal, Outlook, Proposal


def change_words(found: Diagnosis) -> str:
    """`Attainment fell from 98.40 % to 96.10 % (−2.30 points)`."""
    change, label = found.change, figure_label(found.metric)
    if change.value is None:
        return f"{label} is not known of both stretches."
    if not change.value:
        return f"{label} did not change: {value(found.metric, change.after)}."
    verb = "rose" if change.value > 0 else "fell"
    was, now = value(found.metric, change.before), value(found.metric, change.after)
    return f"{label} {verb} from {was} to {now} ({effect(found.metric, change.value)})."


def figure_label(metric: Metric) -> str:
    """The figure that is taken apart: of a latency gate, its share within the bound."""
    if metric in wording.TIMES:
        return f"The share within the bound of {metric.label.lower()}"
    if metric is Metric.VIOLATIONS:
        return "The share of responses without a violation"
    return str(metric.label)


def outlook_table(proposal: Proposal) -> Table:
    """Every gate as recorded and as recomputed with the change."""
    columns = (
        Column("Gate"),
        Column("Recorded", numeric=True),
        Column("With the change", numeric=True),
        Column("Bound", numeric=True),
        Column("Then"),
    )
    return Table("What the change does", columns, [_outlook(one) for one in proposal.outlook])


def _outlook(one: Outlook) -> list[str]:
    metric = Metric(one.goal.metric)
    then = "unknown" if one.expected is None else "inside" if one.keeps else "outside"
    return [
        str(metric.label),
        _figure(one.goal, one.recorded),
        _figure(one.goal, one.expected),
        _bound(one.goal),
        then,
    ]


def _figure(goal: Goal, number: Fraction | None) -> str:
    if number is not None and goal.metric == Metric.VIOLATIONS:
        return figures.shortest(Decimal(str(round(float(number), 1))).normalize())
    said = value(Metric(goal.metric), number)
    return f"{said} within" if goal.latency_key and number is not None else said


def _bound(goal: Goal) -> str:
    sign = "≤" if goal.less_is_better else "≥"
    return f"{sign} {_figure(goal, goal.bound)}"
