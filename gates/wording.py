"""A gate's figures in words: each in its metric's unit, never rounded onto its bound."""

import re
from decimal import Decimal

from controlplane import figures
from gates.states import Metric
from orchid.engine.document.wording import selector_words
from orchid.engine.segments import dims_of
from orchid.engine.verdict.accepted import PREFIX as ACCEPTED

#: Decimal text as it is stored, or a float by its shortest spelling.
Given = str | float

#: Gates on a clock, told in milliseconds.
TIMES = (Metric.COMPLETION, Metric.FIRST_TOKEN, Metric.OUTPUT_TOKEN, Metric.TOKEN_GAP)
#: For the others less is better.
MORE_IS_BETTER = frozenset({Metric.UTILITY, Metric.ATTAINMENT})
#: As `segment_key` spells it. The last value has no space, or a sentence would not end behind it.
_KEY = re.compile(r"(?:\b[a-z_]+=[^|=;:()]+\|)*\b[a-z_]+=[^\s|=;:(),]+(?:,[^\s|=;:(),]+)*")
_SIGNS = {True: "≥", False: "≤"}


def figure(metric: str, text: Given | None, bound: Given | None = None) -> str:
    """A figure in the metric's unit; beside its bound with the digits that tell them apart."""
    if text is None:
        return figures.UNKNOWN
    number, beside = _number(text), None if bound is None else _number(bound)
    if metric in TIMES:
        return figures.milliseconds(number, beside)
    if metric == Metric.COST:
        return figures.cost_usd(number, beside)
    if metric == Metric.ATTAINMENT:
        return figures.percent(number, 2, beside)
    return figures.decimals(number, 4 if metric == Metric.UTILITY else 0, beside)


def with_names(sentence: str) -> str:
    """A reason as it is stored, with each metric by the name that pages give it."""
    for metric in Metric:
        sentence = sentence.replace(metric.value, str(metric.label))
    return sentence.replace(ACCEPTED, "What was accepted of ")


def in_segment_words(sentence: str) -> str:
    """A sentence with each key of a segment as pages say it: `task is rag, tier is a or b`."""
    return _KEY.sub(lambda found: _selected(found.group()), sentence)


def _selected(key: str) -> str:
    return selector_words({name: value.split(",") for name, value in dims_of(key).items()})


def bound(metric: str, text: Given) -> str:
    """What the metric has to keep, with its direction: `≤ $0.00026`."""
    number = _number(text)
    if metric in TIMES:
        said = f"{figures.shortest(number)} ms"
    elif metric == Metric.COST:
        said = figures.usd(number)
    elif metric == Metric.ATTAINMENT:
        said = f"{figures.shortest(number * 100)} %"
    else:
        said = figures.shortest(number)
    return f"{_SIGNS[metric in MORE_IS_BETTER]} {said}"


def change(metric: str, text: Given | None) -> str:
    """A difference or a margin, with its sign; shares differ by points, not by percent."""
    if text is None:
        return figures.UNKNOWN
    if _number(text) == 0:
        return "0"
    said = figures.signed(figure(metric, text, "0"))
    return said.replace("%", "points") if metric == Metric.ATTAINMENT else said


def between(metric: str, low: float | None, high: float | None) -> str:
    """An interval in its own unit: that of a latency gate is of the share within its bound, and
    that of violations of their rate. Empty where it is not known."""
    if low is None or high is None:
        return ""
    if metric in (Metric.COST, Metric.UTILITY):
        return f"{figure(metric, low)} to {figure(metric, high)}"
    first = figures.percent(_number(low), 2).removesuffix(" %")
    return f"{first} to {figures.percent(_number(high), 2)}"


def lasting(seconds: float) -> str:
    """How long something will take, as coarse as an estimate is."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{max(1, seconds):,.0f} s"


def misses(metric: str, text: str | None, bound: str) -> bool:
    """True when a known figure lies on the wrong side of its bound; equality is inside."""
    if text is None:
        return False
    number, limit = Decimal(text), Decimal(bound)
    return number < limit if metric in MORE_IS_BETTER else number > limit


def _number(given: Given) -> Decimal:
    return Decimal(str(given))
