"""The frontier in words: every figure with its interval, what it misses, what beats it."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from gates import wording
from gates.selectors.frontier import FrontierPoint
from gates.states import Metric
from orchid.engine.frontier import Interval, Point

Bounds = Mapping[str, str]

_COLUMNS = (
    Column("Point"),
    Column("Kind"),
    Column("Utility", numeric=True),
    Column("p95", numeric=True),
    Column("Cost per success", numeric=True),
    Column("Attainment", numeric=True),
    Column("Successes a second", numeric=True),
    Column("Misses"),
    Column("Dominated"),
    Column("Outcome"),
)
_TRIAL_COLUMNS = (*_COLUMNS[:1], *_COLUMNS[2:6], Column("Misses"), Column("Smallest margin"))
_TRADE_COLUMNS = (Column("Against"), *_COLUMNS[2:6])
#: As many names as a cell of the table takes.
_NAMED = 2


def frontier_table(points: Sequence[FrontierPoint], bounds: Bounds) -> Table:
    """One row a point, in the order of the points."""
    return Table("Points of the frontier", _COLUMNS, [_row(point, bounds) for point in points])


def trials_table(trials: Sequence[FrontierPoint], bounds: Bounds) -> Table:
    """What the selected policy did under stress, each against every gate."""
    return Table("Trials under stress", _TRIAL_COLUMNS, [_trial(one, bounds) for one in trials])


def trades_table(points: Sequence[FrontierPoint]) -> Table | None:
    """What one point costs or brings against each other one, each row with its one baseline.

    The point that was selected; else the newest generation that was measured.
    """
    own = next((p.point for p in points if p.is_selected), None) or next(
        (p.point for p in points if p.point.kind == "measured"), None
    )
    others = [p.point for p in points if own is not None and p.point is not own]
    if own is None or not others:
        return None
    rows = [[other.name, *_differences(own, other)] for other in others]
    return Table(f"{own.name} against each other point", _TRADE_COLUMNS, rows)


def missed(point: Point, bounds: Bounds) -> list[Metric]:
    """Every bound that a known figure lies beyond."""
    return [m for m, text in texts_of(point).items() if m in bounds and _misses(m, text, bounds)]


def texts_of(point: Point) -> dict[Metric, str | None]:
    """The point's figures as decimal text, by metric."""
    cost = point.cost_per_success_usd
    known = {
        Metric.UTILITY: point.utility,
        Metric.COMPLETION: point.p95_ms,
        Metric.COST: None if cost is None else round(Decimal(cost), 10),
        Metric.ATTAINMENT: point.attainment,
    }
    return {metric: None if value is None else str(value) for metric, value in known.items()}


def p95_text(point: Point) -> str:
    text = texts_of(point)[Metric.COMPLETION]
    return figures.UNKNOWN if text is None else wording.figure(Metric.COMPLETION, text)


def dominance(found: FrontierPoint) -> str:
    """Which points beat it, and whether they are told apart from it."""
    if found.beaten is None:
        return "no"
    names = ", ".join(found.beaten.by[:_NAMED])
    more = len(found.beaten.by) - _NAMED
    names += f" and {more} more" if more > 0 else ""
    return f"yes, by {names}" if found.beaten.surely else f"not told apart from {names}"


def _differences(own: Point, baseline: Point) -> list[str]:
    """Own figure less the baseline's."""
    mine, theirs = texts_of(own), texts_of(baseline)
    return [wording.change(m, _difference(mine[m], theirs[m])) for m in mine]


def _difference(mine: str | None, theirs: str | None) -> str | None:
    return None if mine is None or theirs is None else f"{Decimal(mine) - Decimal(theirs):f}"


def _row(found: FrontierPoint, bounds: Bounds) -> list[str]:
    point, rate = found.point, found.point.success_per_s
    return [
        f"{point.name} (selected)" if found.is_selected else point.name,
        point.kind,
        *_figures(point, bounds),
        figures.UNKNOWN if rate is None else f"{rate:.1f}",
        _missed_words(point, bounds),
        dominance(found),
        found.outcome,
    ]


def _trial(found: FrontierPoint, bounds: Bounds) -> list[str]:
    point = found.point
    return [
        point.name,
        *_figures(point, bounds),
        _missed_words(point, bounds),
        _smallest_margin(point, bounds),
    ]


def _figures(point: Point, bounds: Bounds) -> list[str]:
    intervals = {
        Metric.UTILITY: point.utility_interval,
        Metric.COMPLETION: point.p95_interval_ms,
        Metric.COST: point.cost_interval_usd,
        Metric.ATTAINMENT: point.attainment_interval,
    }
    return [
        wording.figure(metric, text, bounds.get(metric)) + _between(metric, text, intervals[metric])
        for metric, text in texts_of(point).items()
    ]


def _between(metric: Metric, text: str | None, interval: Interval | None) -> str:
    if text is None or interval is None:
        return ""
    low, high = interval
    if math.isinf(high):
        return f" (at least {wording.figure(metric, _short(low))})"
    return f" ({wording.figure(metric, _short(low))} to {wording.figure(metric, _short(high))})"


def _short(value: float) -> str:
    """Decimal text without a float's exponent."""
    return f"{Decimal(repr(value)):f}"


def _missed_words(point: Point, bounds: Bounds) -> str:
    """Every bound that is missed, by name; what is unknown is not passed."""
    names = [str(metric.label) for metric in missed(point, bounds)]
    unknown = any(text is None for m, text in texts_of(point).items() if m in bounds)
    return ", ".join(names) or ("nothing known" if unknown else "nothing")


def _smallest_margin(point: Point, bounds: Bounds) -> str:
    """The gate that it stands nearest to, as a part of the bound; a miss is below zero."""
    parts = {
        metric: _margin(metric, Decimal(text), Decimal(bounds[metric]))
        for metric, text in texts_of(point).items()
        if text is not None and metric in bounds
    }
    if not parts:
        return figures.UNKNOWN
    nearest = min(parts, key=lambda metric: parts[metric])
    return f"{nearest.label}: {figures.percent(parts[nearest], 1, Decimal(0))}"


def _margin(metric: Metric, value: Decimal, bound: Decimal) -> Decimal:
    room = value - bound if metric in wording.MORE_IS_BETTER else bound - value
    return room / bound


def _misses(metric: Metric, text: str | None, bounds: Bounds) -> bool:
    return wording.misses(metric, text, bounds[metric])
