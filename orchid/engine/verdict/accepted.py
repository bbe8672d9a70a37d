"""What approvers accepted of a generation, as bounds that its stages are held to.

A gate takes proof before it passes. An accepted figure is a claim that was signed: it stands while
the stage's own figure lies within its bound, holds the stage while it does not, and fails once the
traffic refutes it. The bound is never on the far side of the gate's own, so the claim can only ask
more than the document. What can refute by chance is a family of its own beside the gates, each of
them at its part of alpha_fail, so that the gates are judged exactly as they would be without.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import count_within
from orchid.engine.verdict import cost, shares, utility
from orchid.engine.verdict.gates import Judged, Scope, least_utility, scopes, spending_of
from orchid.engine.verdict.proportion import Prior
from orchid.engine.verdict.result import Accepted, Levels, Result, Verdict
from orchid.engine.verdict.shares import LATENCY_SHARE, Counts
from orchid.engine.verdict.traffic import Totals
from orchid.engine.verdict.wording import e_text, ms_text, share_text, usd_text

#: Before the metric's name in `Result.metric`, so that no accepted figure is taken for a gate.
PREFIX = "accepted:"
#: Figures that a bound of this kind can be set on: all can be judged from any window's rollups.
METRICS = ("completion_p95_ms", "cost_per_success_usd", "utility", "attainment")
#: No test of a hypothesis.
_EXACT = "cost_per_success_usd"


def accepted_results(
    document: PolicyDocument, judged: Judged, accepted: Sequence[Accepted]
) -> list[Result]:
    """Every accepted figure that can be judged here, in the order given."""
    levels = levels_of(document, accepted)
    parts = {scope.name: scope for scope in scopes(document)}
    return [
        _judge(document, judged, one, parts[one.segment], levels)
        for one in accepted
        if one.metric in METRICS and one.segment in parts
    ]


def levels_of(document: PolicyDocument, accepted: Sequence[Accepted]) -> Levels:
    """The error levels of the family: as many tests as it has statistical bounds."""
    tests = sum(one.metric != _EXACT for one in accepted)
    return Levels(document.gates.alpha_pass, document.gates.alpha_fail, tests)


def _judge(
    document: PolicyDocument, judged: Judged, given: Accepted, scope: Scope, levels: Levels
) -> Result:
    gate = gate_of(document, scope, given.metric)
    bound = (min if given.side == "max" else max)(Decimal(given.bound), gate)  # what asks more
    match given.metric:
        case "cost_per_success_usd":
            result = _cost(document, judged, bound)
        case "utility":
            result = _utility(document, judged, scope, bound, levels)
        case _:
            result = _share(document, judged, given.metric, scope, bound, levels)
    told = _words(result, given, gate)
    return replace(result, metric=f"{PREFIX}{given.metric}", message=told)


def gate_of(document: PolicyDocument, scope: Scope, metric: str) -> Decimal:
    """The document's own bound of a metric that can be accepted."""
    gates = document.gates
    match metric:
        case "completion_p95_ms":
            return Decimal(str(gates.completion_p95_ms.max))
        case "cost_per_success_usd":
            return gates.cost_per_success_usd.max
        case "utility":
            return Decimal(str(least_utility(document, scope)))
    return Decimal(str(gates.attainment.min))


def _cost(document: PolicyDocument, judged: Judged, bound: Decimal) -> Result:
    """On a fixed fleet few successes are dear by themselves, so only the spread of the window's
    blocks refutes a cost; the gate is exact."""
    spending = spending_of(document, judged.cost_totals, judged.cost_seconds)
    result = cost.judge("", spending, bound)
    return _standing(result, result.low is not None and result.low > float(bound))


def _utility(
    document: PolicyDocument, judged: Judged, scope: Scope, bound: Decimal, levels: Levels
) -> Result:
    minimum = scope.minimum or document.gates.attainment.minimum_sample
    cells = judged.totals[scope.name].cells
    result = utility.judge(scope.name, cells, float(bound), minimum, levels)
    return _standing(result, result.verdict is Verdict.FAIL)


def _share(
    document: PolicyDocument,
    judged: Judged,
    metric: str,
    scope: Scope,
    bound: Decimal,
    levels: Levels,
) -> Result:
    gate = next(r for r in judged.results if (r.metric, r.segment) == (metric, scope.name))
    totals, limit = judged.totals[scope.name], float(bound)
    effect = gate.n / gate.n_effective if gate.n_effective else 1.0
    prior = Prior(document.gates.prior.a, document.gates.prior.b)
    if metric == "attainment":
        counts = Counts(totals.successes, gate.n, gate.minimum, effect)
        tested = shares.weigh(counts, limit, levels, prior)
        result = shares.attainment(scope.name, counts, limit, levels, tested=tested)
    else:
        counts = Counts(_sure(totals, limit), gate.n, gate.minimum, effect)
        tested = shares.weigh(counts, LATENCY_SHARE, levels, prior)
        shown = totals.percentile_ms(LATENCY_SHARE)
        result = shares.latency(metric, scope.name, counts, limit, shown, levels, tested=tested)
    return _standing(result, result.verdict is Verdict.FAIL)


def _sure(totals: Totals, bound_ms: float) -> int:
    """Requests that surely kept the bound; what straddles it counts as outside."""
    return count_within(totals.histogram, bound_ms)[0]


def _standing(result: Result, refuted: bool) -> Result:
    """A claim passes while its own figure keeps the bound, on its minimum sample."""
    if result.verdict is Verdict.NO_DATA:
        return result
    kept = result.margin is not None and Decimal(result.margin) >= 0
    if result.n < max(1, result.minimum):
        short = max(1, result.minimum) - result.n
        return replace(result, verdict=Verdict.INCONCLUSIVE, needs=short, fragile=False)
    verdict = Verdict.FAIL if refuted else Verdict.PASS if kept else Verdict.INCONCLUSIVE
    return replace(result, verdict=verdict, needs=None, needs_s=None, fragile=False)


def _words(result: Result, given: Accepted, gate: Decimal) -> str:
    """Value, what was signed, its bound and its gate, and how strong the traffic speaks against."""
    if result.verdict is Verdict.NO_DATA:
        return result.message
    said = f"{result.verdict}: {', '.join(_said(result, given, gate))}"
    if result.n < result.minimum:
        said += f"; {result.n:,} of {result.minimum:,} in the minimum sample"
    return said


def _said(result: Result, given: Accepted, gate: Decimal) -> Iterator[str]:
    value = "no figure" if result.value is None else _text(given.metric, result.value)
    yield f"{value} where {_text(given.metric, given.accepted)} was accepted"
    limit = "most" if given.side == "max" else "least"
    yield (
        f"{_text(given.metric, result.bound)} is the {limit} "
        f"(its gate: {_text(given.metric, str(gate))})"
    )
    if result.log_e_fail is not None and math.isfinite(result.log_e_fail):
        yield f"e against it = {e_text(result.log_e_fail)}"
    elif given.metric == "utility" and result.low is not None and result.high is not None:
        yield f"between {result.low:.4f} and {result.high:.4f}"
    yield f"n = {result.n:,}"


def _text(metric: str, text: str) -> str:
    number = Decimal(text)
    match metric:
        case "completion_p95_ms":
            return ms_text(float(number))
        case "cost_per_success_usd":
            return f"${usd_text(number)}"
        case "utility":
            return f"{float(number):.4f}"
    return share_text(float(number))
