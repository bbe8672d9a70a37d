"""What was counted of one generation as a point of the frontier, for one part of its traffic.

Utility, latency and attainment are of one window, cost may be of another. The ledger pays for a
fleet and not for a segment, so a part of the traffic bears the dollars of each block of time by its
TEU in it; the dollars of blocks in which nothing ran are borne as those of all the others. Parts
that make up the whole bear the whole ledger between them.

Every interval is a two-sided one of 95 %, of one look: utility by its own bound, the percentile
from order statistics, attainment from an exact binomial, both with n deflated for neighbours that
share their incidents, cost from the spread of successes between blocks.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from orchid.engine.binomial import lower_bound, upper_bound
from orchid.engine.clocks import bound_of
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import cost_per_success_usd, ledger_usd_between
from orchid.engine.frontier import Interval, Kind, Point
from orchid.engine.histogram import percentile_ms
from orchid.engine.rank_interval import percentile_interval_ms
from orchid.engine.segments import LOAD_STATE, Where, matches
from orchid.engine.verdict import cost, design_effect, utility
from orchid.engine.verdict.counted import BLOCK_POPULATIONS, Counted
from orchid.engine.verdict.result import Levels
from orchid.engine.verdict.traffic import Coverage, Totals, total_of

_ALPHA = 0.05
_SHARE = 0.95
_ELIGIBLE = BLOCK_POPULATIONS.index("eligible")


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything counted of one generation: in the judged window, and in that of its cost."""

    document: PolicyDocument
    counted: Counted
    cost: Counted
    cost_seconds: Decimal
    coverage: Coverage

    @property
    def load_states(self) -> set[str]:
        """The load states that its traffic is told apart by."""
        return {state for name in self.counted.cells if (state := name.dims.get(LOAD_STATE))}


def point_of(name: str, seen: Seen, where: Where, kind: Kind = "measured") -> Point | None:
    """The figures of the requests that the selector takes; None where it takes no eligible one."""
    totals = total_of(seen.counted, where, seen.coverage)
    eligible = totals.of("eligible")
    if not eligible:
        return None
    quality = utility.judge("", totals.cells, 0.0, 1, Levels(_ALPHA / 2, _ALPHA / 2))
    usd, usd_interval = _cost(seen, where)
    return Point(
        name,
        utility.index_of(totals.cells),
        _finite(percentile_ms(totals.histogram, _SHARE)),
        usd,
        kind,
        attainment=totals.successes / eligible,
        success_per_s=_rate(seen, where),
        utility_interval=_interval(quality.low, quality.high),
        p95_interval_ms=percentile_interval_ms(
            totals.histogram, _SHARE, effect=_latency_effect(seen.document, totals), alpha=_ALPHA
        ),
        cost_interval_usd=usd_interval,
        attainment_interval=_attained(seen.document, totals, eligible),
    )


def borne_share(counted: Counted, where: Where) -> Fraction:
    """The part of the ledger that the selector's requests bear, block by block by their TEU."""
    blocks, each = counted.blocks, _teu_each(counted)
    mine = np.array([matches(where, name.dims) for name in counted.cells], dtype=np.bool_)
    if not len(blocks.cell):
        return Fraction(0)
    _, of_entry = np.unique(blocks.at_s, return_inverse=True)
    work = blocks.populations[:, _ELIGIBLE] * each[blocks.cell]
    whole = np.bincount(of_entry, work)
    part = np.bincount(of_entry, work * mine[blocks.cell])
    ran = whole > 0
    return Fraction(float((part[ran] / whole[ran]).mean())) if ran.any() else Fraction(0)


def _teu_each(counted: Counted) -> NDArray[np.float64]:
    """TEU of a request of each cell; a cell that states none counts as the others on average."""
    teu = np.array([float(parts) for parts in counted.columns.teu])
    eligible = counted.of("eligible").astype(np.float64)
    known = (teu > 0) & (eligible > 0)
    usual = teu[known].sum() / eligible[known].sum() if known.any() else 1.0
    return np.where(known, teu / np.maximum(eligible, 1.0), usual)


def _cost(seen: Seen, where: Where) -> tuple[Decimal | None, Interval | None]:
    """Dollars of a success with their interval; None where a price or every success is missing."""
    totals = total_of(seen.cost, where, seen.coverage)
    if totals.of("unpriced"):
        return None, None
    ledger = ledger_usd_between(seen.document, seen.cost_seconds)
    if where:
        share = borne_share(seen.cost, where)
        ledger = ledger * share.numerator / share.denominator
    usd = ledger + totals.cost_usd
    spending = cost.Spending(
        usd=usd,
        successes=totals.successes,
        requests=totals.of("eligible"),
        unpriced=0,
        minimum=1,
        blocks=totals.by_block.successes.tolist(),
    )
    found = cost.judge("", spending, seen.document.gates.cost_per_success_usd.max)
    return cost_per_success_usd(usd, totals.successes), _interval(found.low, found.high)


def _rate(seen: Seen, where: Where) -> Decimal | None:
    """Successes a second over the window of the cost."""
    successes = total_of(seen.cost, where, seen.coverage).successes
    return successes / seen.cost_seconds if seen.cost_seconds else None


def _latency_effect(document: PolicyDocument, totals: Totals) -> float:
    bound = bound_of("completion_p95_ms", document.gates.completion_p95_ms)
    blocks = [(b.within.get(bound.key, 0), b.of(bound.population)) for b in totals.blocks]
    return design_effect.estimate(blocks, document.gates.design_effect_prior)


def _attained(document: PolicyDocument, totals: Totals, eligible: int) -> Interval:
    by = totals.by_block
    blocks = list(zip(by.successes.tolist(), by.eligible.tolist(), strict=True))
    effect = design_effect.estimate(blocks, document.gates.design_effect_prior)
    n = max(1, math.floor(eligible / effect))
    hits = totals.successes / eligible * n
    low = lower_bound(math.floor(hits), n, _ALPHA / 2)
    return low, upper_bound(math.ceil(hits), n, _ALPHA / 2)


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else (low, high)


def _finite(ms: float | None) -> float | None:
    """A percentile that never completed has no number."""
    return None if ms is None or math.isinf(ms) else ms
