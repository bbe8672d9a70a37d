"""The trade that an approver signs: taken at submission, then read and never recomputed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from gates import wording
from gates.selectors import predicted, window_for
from gates.selectors.trade import Traded
from gates.states import Metric
from policies.models import Product, Revision
from policies.selectors import document_of
from releases.models import Publication
from releases.services.accepted import Bounds, accepted_bounds

CLEARS = {True: "pass", False: "fail", None: "no_data"}
#: Figures of the sentence, by the name that they have in it.
_SAID = (
    ("utility", Metric.UTILITY),
    ("p95", Metric.COMPLETION),
    ("cost", Metric.COST),
    ("attainment", Metric.ATTAINMENT),
)


@dataclass(frozen=True)
class TradeRow(Traded):
    """One figure as it was signed, with what a reader asks of it.

    `accepted_bound` is what the rollout is held to; None where the gate's own bound is.
    """

    accepted_bound: str | None = None

    @property
    def direction(self) -> str:
        """Better or worse for whoever is served or pays; empty where either side is unknown."""
        if self.change is None:
            return ""
        change = Decimal(self.change)
        if change == 0:
            return "same"
        return "better" if (change > 0) == (self.metric in wording.MORE_IS_BETTER) else "worse"

    @property
    def misses(self) -> bool:
        """The proposed figure lies beyond its gate's bound, however much better than live it is."""
        return wording.misses(self.metric, self.after, self.bound)

    @property
    def base_misses(self) -> bool:
        """The live figure does."""
        return wording.misses(self.metric, self.before, self.bound)


@dataclass(frozen=True)
class Base:
    """The one baseline of a trade: what was live, over which requests it was measured."""

    publication: int
    requests: int
    since: datetime
    until: datetime
    evaluation: int


@dataclass(frozen=True)
class TradeView:
    """A stored trade as the page reads it."""

    base: Base | None
    rows: list[TradeRow]
    segments: list[dict[str, Any]]
    notes: list[str]
    sentence: str
    accepted: Bounds = field(default_factory=dict)


def trade_of(product: Product, revision: Revision, live: Publication | None) -> dict[str, Any]:
    """The trade of a revision against what is live, as plain data, with the bounds it will set."""
    window = window_for(product, live.number) if live else None
    trade = predicted(product, revision, window).as_json()
    ruling = document_of(live.target_digest if live else revision.digest)
    return trade | {"accepted": accepted_bounds(trade, ruling.approvals.accepted_room)}


def read_trade(trade: dict[str, Any]) -> TradeView | None:
    """A stored trade for the page; None before the first submission."""
    if not trade:
        return None
    accepted: Bounds = trade.get("accepted", {})
    return TradeView(
        base=_base(trade.get("base")),
        rows=[_row(row, accepted) for row in trade["figures"]],
        segments=[_segment(row, accepted) for row in trade["segments"]],
        notes=list(trade["notes"]),
        sentence=sentence(trade),
        accepted=accepted,
    )


def sentence(trade: Mapping[str, Any]) -> str:
    """The trade as one sentence, which is what an approver signs; empty before a submission."""
    if not trade:
        return ""
    base = trade.get("base")
    against = "against the live generation" if base else "nothing measured is live"
    rows = {row["metric"]: row for row in trade["figures"]}
    utility, p95, cost, attainment = (
        _figure_said(name, rows[metric], bool(base)) for name, metric in _SAID
    )
    parts = [utility, *_worst_said(trade["segments"]), p95, cost, attainment]
    return f"{against}: {', '.join(parts)}"


def worst_segment(segments: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The segment nearest to its floor, or furthest below; None where none is known."""
    known = [row for row in segments if row["after"] is not None]
    return min(known, key=lambda row: row["after"] - row["floor"], default=None)


def _figure_said(name: str, row: Mapping[str, Any], compared: bool) -> str:
    metric, bound = row["metric"], row["bound"]
    after = wording.figure(metric, row["after"], bound) if row["after"] else "not known"
    if not compared:
        return f"{name} {after}"
    before = wording.figure(metric, row["before"], bound) if row["before"] else "not measured"
    return f"{name} {before} → {after}"


def _worst_said(segments: list[dict[str, Any]]) -> Iterator[str]:
    worst = worst_segment(segments)
    if worst is not None:
        value = wording.figure(Metric.UTILITY, worst["after"], worst["floor"])
        yield f"worst segment {worst['name']} at {value} (floor {worst['floor']:g})"
    if unknown := [row["name"] for row in segments if row["after"] is None]:
        yield f"no evidence for {' and '.join(unknown)}"


def _base(given: Mapping[str, Any] | None) -> Base | None:
    if not given:
        return None
    since, until = (datetime.fromisoformat(given[name]) for name in ("from", "to"))
    return Base(given["publication"], given["requests"], since, until, given["evaluation"])


def _row(row: dict[str, Any], accepted: Bounds) -> TradeRow:
    limit = accepted.get(row["metric"], {}).get("", {}).get("bound")
    return TradeRow(**row, accepted_bound=limit)


def _segment(row: dict[str, Any], accepted: Bounds) -> dict[str, Any]:
    limit = accepted.get("utility", {}).get(row["name"], {}).get("bound")
    return {**row, "verdict": CLEARS[row["clears"]], "accepted_bound": limit}
