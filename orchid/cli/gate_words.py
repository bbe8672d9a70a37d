"""Gates and their figures on a terminal: each in its unit, none rounded onto its bound."""

from decimal import Decimal
from typing import NamedTuple

from orchid.engine.document.values import decimal_text


class Said(NamedTuple):
    """How the figures of a gate are written: factor, digits at first, what stands around."""

    name: str
    places: int = 0
    factor: int = 1
    before: str = ""
    after: str = ""
    at_least: bool = False


GATES = {
    "completion_p95_ms": Said("Completion p95", after=" ms"),
    "first_token_p95_ms": Said("First token p95", after=" ms"),
    "time_per_output_token_p95_ms": Said("Time per output token p95", 1, after=" ms"),
    "inter_token_gap_p95_ms": Said("Longest token gap p95", after=" ms"),
    "cost_per_success_usd": Said("Cost per success", 8, before="$"),
    "utility": Said("Utility index", 4, at_least=True),
    "attainment": Said("Attainment", 2, 100, after=" %", at_least=True),
    "violations": Said("Violations"),
}
MOST_PLACES = 18
#: As the engine writes it before a signed figure; its module would load numpy for every verdict.
ACCEPTED = "accepted:"


def gate_name(metric: str) -> str:
    """`Utility index`; what approvers signed of it is told apart from the gate."""
    plain = metric.removeprefix(ACCEPTED)
    name = GATES[plain].name if plain in GATES else plain.replace("_", " ")
    return name if plain == metric else f"{name}, as accepted"


def with_names(sentence: str) -> str:
    """A reason as it is stored, with each gate by its name."""
    for metric, said in GATES.items():
        sentence = sentence.replace(metric, said.name)
    return sentence.replace(ACCEPTED, "What was accepted of ")


def figure(metric: str, text: str | None, beside: str | None = None) -> str:
    """A value in its unit; with as many digits as tell it from `beside`. Unknown is empty."""
    if text is None:
        return ""
    said = _said(metric)
    number = Decimal(text) * said.factor
    limit = None if beside is None else Decimal(beside) * said.factor
    return f"{said.before}{_digits(number, limit, said.places)}{said.after}"


def bound(metric: str, text: str) -> str:
    """`<= 1,500 ms`"""
    said = _said(metric)
    sign = ">=" if said.at_least else "<="
    return f"{sign} {said.before}{_whole(Decimal(text) * said.factor)}{said.after}"


def margin(metric: str, text: str | None) -> str:
    """With its sign: on the good side positive. Shares differ by points, not by percent."""
    if text is None:
        return ""
    sign = "+" if Decimal(text) > 0 else "-" if Decimal(text) < 0 else ""
    said = figure(metric, decimal_text(abs(Decimal(text))), "0")
    return f"{sign}{said}".replace("%", "points")


def interval(metric: str, low: float | None, high: float | None) -> str:
    """Of shares and scores from 0 to 1; latency is judged as the share within its bound."""
    if low is None and high is None:
        return ""
    judged = metric.removeprefix(ACCEPTED)
    plain = judged not in GATES or judged in ("cost_per_success_usd", "violations", "utility")
    factor, unit = (1, "") if plain else (100, " %")
    ends = ("?" if end is None else f"{end * factor:,.4g}" for end in (low, high))
    return f"{' to '.join(ends)}{unit}"


def _said(metric: str) -> Said:
    return GATES.get(metric.removeprefix(ACCEPTED)) or Said(metric, 4)


def _digits(number: Decimal, limit: Decimal | None, places: int) -> str:
    for more in range(places, MOST_PLACES + 1):
        rounded = round(number, more)
        if limit is None or (rounded == limit) == (number == limit):
            return _whole(rounded)
    return _whole(number)


def _whole(number: Decimal) -> str:
    """Separators, and no digit that says nothing."""
    return f"{Decimal(decimal_text(number)):,f}"
