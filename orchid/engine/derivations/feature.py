"""What a feature costs: a prefix that is cached, small first, who answers."""

from collections.abc import Callable
from decimal import Decimal

from orchid.engine.arithmetic import (
    Assistant,
    arrivals_per_minute,
    cascade_break_even,
    cascade_cost,
    prefix_break_even,
    prefix_cost,
)
from orchid.engine.derivations.arithmetic import over_arguments
from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)


def _prefix(given: Given) -> dict[str, Value]:
    return {
        "prefix_tokens": given.whole("prefix_tokens"),
        "uses": given.whole("uses"),
        "write_price": given.number("write_price"),
        "read_price": given.number("read_price"),
    }


def _prefix_cost(material: Material, given: Given) -> Worked:
    read = _prefix(given)
    return Worked(prefix_cost(**read), read)  # type: ignore[arg-type]  # by its own names


def _prefix_saving(material: Material, given: Given) -> Worked:
    read = _prefix(given)
    plain = Decimal(str(read["prefix_tokens"])) * Decimal(str(read["uses"]))
    cached = prefix_cost(**read)  # type: ignore[arg-type]  # by its own names
    return Worked(1 - cached / plain, {**read, "uncached": plain})


def _assistant(given: Given) -> tuple[Assistant, bool]:
    asked = Assistant(
        prefix_tokens=given.whole("prefix_tokens"),
        input_tokens=given.whole("input_tokens"),
        output_tokens=given.whole("output_tokens"),
        output_weight=given.number("output_weight"),
        small_price=given.number("small_price"),
        write_price=given.number("write_price"),
        read_price=given.number("read_price"),
        hit_rate=given.number("hit_rate"),
        escalation=given.number("escalation"),
    )
    return asked, given.flag("cached")


WAYS: dict[str, Callable[[Assistant, bool], Decimal]] = {
    "large_only": lambda asked, cached: asked.large_only(cached=cached),
    "cascade": lambda asked, cached: asked.cascade(cached=cached),
    "perfect_classifier": lambda asked, cached: asked.perfect_classifier(cached=cached),
}


def _way(material: Material, given: Given) -> Worked:
    (asked, cached), way = _assistant(given), given.text("way")
    if way not in WAYS:
        raise FigureError(f"the ways are {', '.join(WAYS)}, not {way}")
    fields = {name: getattr(asked, name) for name in Assistant.__dataclass_fields__}
    return Worked(WAYS[way](asked, cached), {"way": way, "cached": cached, **fields})


def _arrivals(material: Material, given: Given) -> Worked:
    requests = given.whole("requests_a_month")
    part = given.number("share") if given.has("share") else Decimal(1)
    return Worked(
        arrivals_per_minute(requests) * part, {"requests_a_month": requests, "share": part}
    )


DERIVATIONS = (
    Derivation(
        "prefix_cost",
        "input tokens",
        prefix_cost,
        "prefix x (write + (uses - 1) x read)",
        _prefix_cost,
    ),
    Derivation("prefix_saving", "share", prefix_cost, "1 - cached / uncached", _prefix_saving),
    Derivation(
        "prefix_break_even",
        "uses",
        prefix_break_even,
        "first use at which caching is cheaper",
        over_arguments(prefix_break_even, write_price=Given.number, read_price=Given.number),
    ),
    Derivation(
        "cascade_cost",
        "of large only",
        cascade_cost,
        "small price + escalation",
        over_arguments(cascade_cost, small_price=Given.number, escalation=Given.number),
    ),
    Derivation(
        "cascade_break_even",
        "escalation",
        cascade_break_even,
        "1 - small price",
        over_arguments(cascade_break_even, small_price=Given.number),
    ),
    Derivation(
        "assistant_cost", "large-model input tokens", Assistant, "by way and prefix cache", _way
    ),
    Derivation(
        "arrivals_per_minute",
        "requests/min",
        arrivals_per_minute,
        "requests / minutes of a 30-day month x share",
        _arrivals,
    ),
)
