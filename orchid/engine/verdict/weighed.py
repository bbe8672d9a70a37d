"""Every share that the gates test, measured in all scopes and weighed at once.

A share is of one scope: attainment, or one latency gate read as "at least 95 % are within the
bound". Each is deflated by the time blocks of its own scope.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import numpy as np

from orchid.engine.clocks import LatencyBound, bound_of, latency_gates
from orchid.engine.document.contract import LatencyGate
from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import count_within
from orchid.engine.rollup_columns import Wholes
from orchid.engine.verdict import design_effect, shares
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.proportion import Prior
from orchid.engine.verdict.result import Levels
from orchid.engine.verdict.shares import Counts, Tested
from orchid.engine.verdict.traffic import LATENCY_POPULATIONS, Totals

#: What `at the present rate` looks back on.
RECENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Share:
    """One share to be tested: `good` and `all_` are the same by time block, the deflation's."""

    within: int
    total: int
    minimum: int
    required: float
    exact: bool
    good: Wholes
    all_: Wholes
    rate_per_s: float


class Weighed(NamedTuple):
    """A share that was tested. `exact` is False where its bound was not counted everywhere."""

    counts: Counts
    tested: Tested
    exact: bool


class Seen(NamedTuple):
    """A scope's totals, the window they were counted in, and its own sample minimum if any."""

    totals: Totals
    counted: Counted
    minimum: int | None

    def rate_per_s(self, by_block: Wholes) -> float:
        """Requests a second of late: over ten minutes, or the window where that is shorter."""
        recent = min(RECENT, self.counted.end - self.counted.start)
        since_s = (self.counted.end - recent).timestamp()
        late = by_block[self.totals.by_block.at_s >= since_s]
        return float(late.sum()) / max(1.0, recent / timedelta(seconds=1))


def weigh_scopes(
    document: PolicyDocument, scopes: Sequence[Seen], levels: Levels
) -> list[dict[str, Weighed]]:
    """By scope, and in it by metric: every latency gate, and attainment."""
    measured = [_shares(document, seen) for seen in scopes]
    weighed = iter(_weighed([s for some in measured for s in some.values()], document, levels))
    return [{metric: next(weighed) for metric in some} for some in measured]


def _shares(document: PolicyDocument, seen: Seen) -> dict[str, _Share]:
    found = {
        metric: _latency_share(seen, bound_of(metric, gate), gate)
        for metric, gate in latency_gates(document).items()
    }
    return found | {"attainment": _attainment_share(document, seen)}


def _latency_share(seen: Seen, bound: LatencyBound, gate: LatencyGate) -> _Share:
    totals, by = seen.totals, seen.totals.by_block
    within, exact = _within(totals, bound)
    counted = by.counted[:, LATENCY_POPULATIONS.index(bound.population)]
    known = bound.key in totals.bounds
    return _Share(
        within,
        totals.of(bound.population),
        seen.minimum or gate.minimum_sample,
        shares.LATENCY_SHARE,
        exact,
        by.within[:, totals.bounds.index(bound.key)] if known else np.zeros_like(counted),
        counted,
        seen.rate_per_s(counted),
    )


def _attainment_share(document: PolicyDocument, seen: Seen) -> _Share:
    totals, by = seen.totals, seen.totals.by_block
    return _Share(
        totals.successes,
        totals.of("eligible"),
        seen.minimum or document.gates.attainment.minimum_sample,
        document.gates.attainment.min,
        True,
        by.successes,
        by.eligible,
        seen.rate_per_s(by.eligible),
    )


def _weighed(given: Sequence[_Share], document: PolicyDocument, levels: Levels) -> list[Weighed]:
    effects = _effects(given, document.gates.design_effect_prior)
    counts = [
        Counts(one.within, one.total, one.minimum, effect, one.rate_per_s)
        for one, effect in zip(given, effects, strict=True)
    ]
    prior = Prior(document.gates.prior.a, document.gates.prior.b)
    tested = shares.judge_all(counts, [one.required for one in given], levels, prior)
    exact = (one.exact for one in given)
    return [Weighed(*one) for one in zip(counts, tested, exact, strict=True)]


def _effects(given: Sequence[_Share], prior: float) -> list[float]:
    """Scopes whose windows have equally many blocks are estimated together."""
    alike: dict[int, list[int]] = {}
    for place, one in enumerate(given):
        alike.setdefault(len(one.good), []).append(place)
    effects = [1.0] * len(given)
    for places in alike.values():
        good = np.stack([given[place].good for place in places])
        found = design_effect.estimate_all(good, np.stack([given[p].all_ for p in places]), prior)
        for place, effect in zip(places, found.tolist(), strict=True):
            effects[place] = effect
    return effects


def _within(totals: Totals, bound: LatencyBound) -> tuple[int, bool]:
    """The exact counter of the bound, where every request of its population was compared with it.

    Else what is sure: those that were seen to keep it, or those in the histogram's buckets below
    it, whichever are more; the other requests count as outside.
    """
    kept = totals.within.get(bound.key, 0)
    if totals.judged.get(bound.key, 0) == totals.of(bound.population):
        return kept, True
    if bound.clock != "completion":
        return kept, False
    sure, exact = count_within(totals.histogram, bound.max_ms)
    return max(kept, sure), exact
