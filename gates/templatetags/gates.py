"""How a gate's figures are written on a page; the writing itself is in gates.wording."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template

from controlplane.web import Table
from gates import calibration_words, wording
from gates.charts.sparkline import Trends, table_of_trends, trend_line
from gates.models import Verdict
from gates.selectors.revisit import label_of, waiting
from gates.selectors.verdicts import Gate
from gates.states import Metric
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.verdicts import Calibration
from orchid.engine.verdict.wording import AGAINST_INCUMBENT
from policies.models import Product

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
def change(text: wording.Given | None, metric: str) -> str:
    """A difference or a margin, with its sign."""
    return wording.change(metric, text)


@register.filter
def of(known: Mapping[Any, Any], key: Any) -> Any:
    """What is known of a key; None where nothing is."""
    return known.get(key)


@register.simple_tag
def trend(gate: Gate, trends: Trends | str) -> str:
    """The gate's last hour as a line against its bound; nothing where a page has no trends."""
    rows = trends.get(gate.metric, []) if isinstance(trends, Mapping) else []
    return trend_line(gate.metric, gate.whole.bound, rows)


@register.simple_tag
def trend_table(gates: Sequence[Gate], trends: Trends) -> Table:
    """What the lines of several gates show, as a table."""
    return table_of_trends([gate.metric for gate in gates], trends)


@register.simple_tag
def interval(row: Verdict) -> str:
    """Between what the truth may lie, in the unit that the interval is in; empty if unknown."""
    return wording.between(row.metric, row.low, row.high)


@register.filter
def rail(metric: str) -> str:
    """`guardrail:queue_dwell_p95_ms` -> `queue dwell p95 ms`: what is judged beside the gates."""
    return metric.rpartition(":")[2].replace("_", " ")


@register.filter
def share_label(metric: str) -> str:
    """`attainment_against_incumbent` by the name that pages give its gate."""
    return str(Metric(metric.removesuffix(AGAINST_INCUMBENT)).label)


@register.filter
def lasting(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h`, `5 d`: as coarse as an estimate is."""
    return wording.lasting(seconds)


@register.filter
def metric_words(sentence: str) -> str:
    """A reason as it is stored, with each metric by the name that pages give it."""
    return wording.with_names(sentence)


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


@register.filter
def trigger_label(name: str) -> str:
    """What broke, in words."""
    return label_of(name)


@register.inclusion_tag("gates/_revisit_count.html")
def revisit_count(product: Product) -> dict[str, Any]:
    """How many items wait to be looked at again, where any do."""
    return {"slug": product.slug, "waiting": waiting(product)}
