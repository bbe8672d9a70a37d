"""The trade that an approver signs: taken at submission, then read and never recomputed."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gates import wording
from gates.selectors import predicted, window_for
from gates.selectors.trade import Traded
from policies.models import Product, Revision
from releases.models import Publication

CLEARS = {True: "pass", False: "fail", None: "no_data"}


@dataclass(frozen=True)
class TradeRow(Traded):
    """One figure as it was signed, with what a reader asks of it."""

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
class TradeView:
    """A stored trade as the page reads it."""

    base_publication: int | None
    rows: list[TradeRow]
    segments: list[dict[str, Any]]
    notes: list[str]


def trade_of(product: Product, revision: Revision, live: Publication | None) -> dict[str, Any]:
    """The trade of a revision against what is live, as plain data."""
    window = window_for(product, live.number) if live else None
    return predicted(product, revision, window).as_json()


def read_trade(trade: dict[str, Any]) -> TradeView | None:
    """A stored trade for the page; None before the first submission."""
    if not trade:
        return None
    base = trade.get("base") or {}
    return TradeView(
        base_publication=base.get("publication"),
        rows=[TradeRow(**row) for row in trade["figures"]],
        segments=[{**row, "verdict": CLEARS[row["clears"]]} for row in trade["segments"]],
        notes=list(trade["notes"]),
    )
