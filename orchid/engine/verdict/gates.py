"""All gates of a document over one window's rollups: the whole, and every gated segment.

Cost is judged on the whole alone, because the ledger pays for a fleet and not for a segment;
utility is judged against the index's bound on the whole and against its own floor in a segment.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from orchid.engine.clocks import LatencyBound, bound_of, latency_gates
from orchid.engine.document.contract import GatedSegment
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import ledger_usd_between
from orchid.engine.segments import Where, floor_for
from orchid.engine.verdict import against, cost, shares, utility, violations
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.coverage import Coverage
from orchid.engine.verdict.evidence import Book
from orchid.engine.verdict.result import Levels, Result
from orchid.engine.verdict.traffic import Totals, total_of, totals_of
from orchid.engine.verdict.weighed import Seen, Weighed, weigh_scopes


@dataclass(frozen=True, slots=True)
class Observed:
    """What a judgement rests on.

    `counted` grows from the window's opening; `cost` is that of the closed cost window, which is
    `cost_seconds` long and ends at the watermark. `own` is what was counted for a scope, by its
    name, whose window began at another time.
    """

    counted: Counted
    cost: Counted
    cost_seconds: Decimal
    book: Book
    own: Mapping[str, Counted] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """The whole (no name) or one gated segment, with its sample minimum where it sets one."""

    name: str
    where: Where
    minimum: int | None


@dataclass(frozen=True, slots=True)
class Judged:
    """The results and the totals of every scope, by its name."""

    results: list[Result]
    totals: dict[str, Totals]
    cost_totals: Totals
    cost_seconds: Decimal
    coverage: Coverage
    counted: Counted


def scopes(document: PolicyDocument) -> list[Scope]:
    """The whole first, then the gated segments in the document's order."""
    return [Scope("", {}, None), *(_scope(segment) for segment in document.gates.segments)]


def judge(document: PolicyDocument, observed: Observed) -> Judged:
    """Every gate in every scope, at levels that allow for how many of them can fail."""
    coverage = Coverage(document, observed.counted, observed.book)
    parts = scopes(document)
    levels = levels_of(document)
    totals = _totals(observed, parts, coverage)
    cost_totals = total_of(observed.cost, {}, coverage)
    seen = [_seen(observed, part, totals[part.name]) for part in parts]
    results = [_cost(document, cost_totals, observed.cost_seconds)]
    for part, weighed in zip(parts, weigh_scopes(document, seen, levels), strict=True):
        results += _statistical(document, part, totals[part.name], levels, weighed)
    seconds = observed.cost_seconds
    return Judged(results, totals, cost_totals, seconds, coverage, observed.counted)


def _seen(observed: Observed, part: Scope, totals: Totals) -> Seen:
    return Seen(totals, observed.own.get(part.name, observed.counted), part.minimum)


def _totals(observed: Observed, parts: Sequence[Scope], coverage: Coverage) -> dict[str, Totals]:
    found = totals_of(observed.counted, [part.where for part in parts], coverage)
    totals = {part.name: one for part, one in zip(parts, found, strict=True)}
    for part in parts:
        if part.name in observed.own:
            totals[part.name] = total_of(observed.own[part.name], part.where, coverage)
    return totals


def levels_of(document: PolicyDocument) -> Levels:
    """Error levels with the number of results that chance alone could fail."""
    statistical = 2 + len(latency_gates(document))
    tests = statistical * len(scopes(document)) + against.tests_of(document)
    return Levels(document.gates.alpha_pass, document.gates.alpha_fail, tests)


def least_utility(document: PolicyDocument, scope: Scope) -> float:
    """The index's bound for the whole; a segment's own floor, or that bound where it has none."""
    bound = document.gates.utility.min
    if not scope.name:
        return bound
    dims = {name: value for name, value in scope.where.items() if isinstance(value, str)}
    floor = floor_for(document, dims)
    return bound if floor is None else floor


def _scope(segment: GatedSegment) -> Scope:
    return Scope(segment.name, segment.where, segment.minimum_sample)


def _statistical(
    document: PolicyDocument,
    scope: Scope,
    totals: Totals,
    levels: Levels,
    weighed: Mapping[str, Weighed],
) -> Iterator[Result]:
    for metric, gate in latency_gates(document).items():
        bound = bound_of(metric, gate)
        yield _latency(document, scope, totals, levels, (metric, bound), weighed[metric])
    yield _utility(document, scope, totals, levels)
    yield _attainment(document, scope, levels, weighed["attainment"])
    yield _violations(document, scope, totals)


def _latency(
    document: PolicyDocument,
    scope: Scope,
    totals: Totals,
    levels: Levels,
    named: tuple[str, LatencyBound],
    weighed: Weighed,
) -> Result:
    metric, bound = named
    # The rollups' histogram follows the completion clock; other clocks have exact shares only.
    completes = bound.clock == "completion"
    return shares.latency(
        metric,
        scope.name,
        weighed.counts,
        bound.max_ms,
        totals.percentile_ms(shares.LATENCY_SHARE) if completes else None,
        levels,
        exact=weighed.exact,
        fragile_margin=document.gates.fragile_margin,
        tested=weighed.tested,
    )


def _utility(document: PolicyDocument, scope: Scope, totals: Totals, levels: Levels) -> Result:
    return utility.judge(
        scope.name,
        totals.cells,
        least_utility(document, scope),
        _minimum(document, scope),
        levels,
        fragile_margin=document.gates.fragile_margin,
    )


def _attainment(document: PolicyDocument, scope: Scope, levels: Levels, weighed: Weighed) -> Result:
    return shares.attainment(
        scope.name,
        weighed.counts,
        document.gates.attainment.min,
        levels,
        fragile_margin=document.gates.fragile_margin,
        tested=weighed.tested,
    )


def _violations(document: PolicyDocument, scope: Scope, totals: Totals) -> Result:
    seen = violations.Delivered(
        totals.served, totals.of("violation"), _minimum(document, scope), totals.found
    )
    return violations.judge(scope.name, seen, document.gates.violations.max)


def spending_of(document: PolicyDocument, totals: Totals, seconds: Decimal) -> cost.Spending:
    """What the closed window of `seconds` cost and brought."""
    return cost.Spending(
        usd=ledger_usd_between(document, seconds) + totals.cost_usd,
        successes=totals.successes,
        requests=totals.of("eligible"),
        unpriced=totals.of("unpriced"),
        minimum=document.gates.cost_per_success_usd.minimum_successes,
        blocks=totals.by_block.successes.tolist(),
    )


def _cost(document: PolicyDocument, totals: Totals, seconds: Decimal) -> Result:
    spending, bound = spending_of(document, totals, seconds), document.gates.cost_per_success_usd
    return cost.judge("", spending, bound.max, document.gates.fragile_margin)


def _minimum(document: PolicyDocument, scope: Scope) -> int:
    """One sample minimum for what counts requests; the whole takes attainment's."""
    return scope.minimum or document.gates.attainment.minimum_sample
