"""The books in words and tables."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from controlplane import figures
from controlplane.web import Column, Table
from gates.charts.economics import CAUSE_LABELS, dollars, each_usd
from gates.selectors.book_rows import ROUTE, TENANT, per
from gates.selectors.budgets import Budgets
from gates.selectors.economics import Books, Line
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import duration_text
from orchid.engine.economics import Entry
from orchid.engine.economics.allocation import NOBODY
from orchid.engine.economics.budgets import Standing, Use
from orchid.engine.economics.ledger import PoolHour

_UNITS = {
    "max_teu": "TEU",
    "max_usd": "dollars of upstreams",
    "max_output_tokens": "output tokens",
    "max_live_token_ms": "live-token ms",
    "max_external_calls": "external calls",
}
_STANDINGS = {Standing.OVER: "over", Standing.NEAR: "near", Standing.WITHIN: "within"}
_WEIGHTS = {
    "requests": "eligible requests",
    "teu": "TEU worked",
    "successes": "successes",
    "equal": "equal parts",
}
_RESIDENCY = {
    "replicas": "the replicas of each route",
    "weights": "the size of each model's weights",
    "equal": "equal parts",
}
#: What work is measured by, as a statement names it.
MEASURES = {"teu": "TEU", "accelerator_ms": "time on devices"}
_DIRECT = {"teu": "TEU", "accelerator_ms": "accelerator time, TEU where it was not told by all"}


class Tile(NamedTuple):
    """A figure with what it is made of."""

    label: str
    value: str
    note: str


def heads(found: Books) -> list[tuple[str, str]]:
    """What the ledger can be read by, with its label."""
    dimensions = [(name, name.replace("_", " ").capitalize()) for name in found.dimensions]
    return [(ROUTE, "Route"), (TENANT, "Tenant"), *dimensions]


def tiles(found: Books) -> list[Tile]:
    """The whole at a glance: the ledger, and what one success, admitted request, attempt cost."""
    whole, laid = found.by_cell.whole, found.by_cell.total
    unpriced = f"{whole.unpriced:,} requests of unknown price" if whole.unpriced else ""
    wasted = Decimal(whole.wasted.usd) / laid if laid else None
    return [
        Tile("Ledger", dollars(laid), f"{dollars(found.by_cell.external)} of it external"),
        Tile(
            "A success",
            each_usd(per(laid, whole, whole.successes)),
            unpriced or f"{whole.successes:,} that evidence covers",
        ),
        _each("An admitted request", laid, whole, whole.admitted),
        _each("An attempt", laid, whole, whole.attempts),
        Tile(
            "Wasted work",
            dollars(whole.wasted.usd),
            figures.UNKNOWN if wasted is None else f"{figures.percent(wasted)} of the ledger",
        ),
        Tile(
            "Deployment",
            dollars(found.by_cell.allocated.investment),
            "shadow, and candidates that are only tried",
        ),
    ]


def _each(label: str, parts: int, whole: Entry, count: int) -> Tile:
    return Tile(label, each_usd(per(parts, whole, count)), f"{count:,} of them")


def measured_words(found: Books) -> str:
    """What the work of the period was measured by."""
    return " and ".join(MEASURES[unit] for unit in sorted(found.by_cell.measured_by))


def hours_table(found: Books) -> Table:
    """The ledger's own lines: each pool in each hour, the newest first."""
    return Table(
        "The ledger by hour and pool",
        (
            Column("Hour"),
            Column("Pool"),
            Column("Ran for", numeric=True),
            Column("Devices", numeric=True),
            Column("Overhead", numeric=True),
            Column("Total", numeric=True),
            Column("Only tried", numeric=True),
        ),
        [_hour_row(hour) for hour in reversed(found.by_cell.hours)],
    )


def _hour_row(hour: PoolHour) -> Sequence[str]:
    tried = hour.invested.devices_usd + hour.invested.overhead_usd
    ran = hour.live.seconds + hour.invested.seconds
    return [
        f"{hour.hour_at:%Y-%m-%d %H:%M}",
        hour.pool if not hour.pool.startswith("sha256:") else hour.pool[7:15],
        f"{figures.decimals(ran / 60, 1)} min",
        dollars(hour.devices_parts),
        dollars(hour.overhead_parts),
        dollars(hour.total_parts),
        figures.ledger_usd(tried) if tried else "–",
    ]


def apart_table(found: Books) -> Table | None:
    """What no request pays: what stood ready unused, and what was only tried."""
    laid = found.by_cell.allocated
    rows = [
        ["Promise", route if route != NOBODY else "hours without requests", dollars(parts)]
        for route, parts in sorted(laid.promise.items())
        if parts
    ]
    rows += [["Deployment", _tried(found), dollars(laid.investment)]] if laid.investment else []
    columns = (Column("Laid on"), Column("What it was"), Column("Dollars", numeric=True))
    return Table("What no request pays", columns, rows) if rows else None


def _tried(found: Books) -> str:
    """The windows that are only tried, in words."""
    runs = [run for run in found.runs if run.is_investment]
    named = dict.fromkeys(f"{run.cohort} of publication {run.publication}" for run in runs)
    return ", ".join(named) or "shadow work"


def wasted_table(lines: Sequence[Line], head: str) -> Table:
    """Wasted dollars of each name by cause, the most first."""
    some = sorted(lines, key=lambda line: -line.entry.wasted.usd)
    return Table(
        f"Wasted work by {head}",
        (
            Column(head.capitalize()),
            *(Column(label, numeric=True) for label in CAUSE_LABELS.values()),
            Column("Together", numeric=True),
        ),
        [_wasted_row(line) for line in some if line.entry.wasted.usd],
    )


def _wasted_row(line: Line) -> Sequence[str]:
    causes = [dollars(line.entry.waste[cause].usd) for cause in CAUSE_LABELS]
    return [line.name, *causes, dollars(line.entry.wasted.usd)]


def standings(found: Budgets) -> list[tuple[str, int, str]]:
    """How many caps are over, near and within, with the badge of each."""
    counts, badges = found.counts(), {Standing.OVER: "fail", Standing.NEAR: "inconclusive"}
    return [(_STANDINGS[one], counts[one], badges.get(one, "pass")) for one in Standing][::-1]


def rule_words(document: PolicyDocument) -> list[tuple[str, str]]:
    """The allocation's rule, line by line."""
    rule, fleet = document.allocation, document.fleet
    kept = figures.percent(1 - fleet.safe_factor)
    apart = {
        "apart": "what a trial costs beyond its direct work stands apart",
        "common": "what a trial costs beyond its direct work is shared like common",
    }
    return [
        ("Direct work", f"on requests, by {_DIRECT[rule.direct]}"),
        ("Standing ready", f"on the routes, by {_RESIDENCY[rule.residency]}"),
        ("Reserve", f"{kept} of the devices, by {_WEIGHTS[rule.reserve]}"),
        ("Common", f"overhead, by {_WEIGHTS[rule.common]}"),
        ("Deployment", apart[rule.investment]),
    ]


def budget_table(found: Budgets) -> Table:
    """Every cap with its use, what admission reserved, and where the window is heading."""
    return Table(
        "Budgets by tenant",
        (
            Column("Tenant"),
            Column("Cap"),
            Column("Window"),
            Column("Used", numeric=True),
            Column("Reserved", numeric=True),
            Column("Of", numeric=True),
            Column("Share", numeric=True),
            Column("At the end", numeric=True),
            Column("Stands"),
        ),
        [_budget_row(use) for use in found.uses],
    )


def _budget_row(use: Use) -> Sequence[str]:
    return [
        use.tenant,
        _UNITS[use.cap],
        _window(use),
        _amount(use, use.used) + (f" and {use.unpriced:,} unpriced" if use.unpriced else ""),
        _amount(use, use.reserved),
        _amount(use, use.limit),
        figures.UNKNOWN if use.share is None else figures.percent(use.share),
        _amount(use, use.projected),
        _STANDINGS[use.standing],
    ]


def _window(use: Use) -> str:
    text = duration_text(use.window // timedelta(milliseconds=1))
    return f"{text}, in the busiest step" if use.by_busiest_step else text


def _amount(use: Use, value: Decimal | None) -> str:
    if value is None:
        return "–"
    return figures.ledger_usd(value) if use.cap == "max_usd" else figures.decimals(value, 0)
