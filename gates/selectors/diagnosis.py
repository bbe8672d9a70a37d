"""Two stretches of traffic side by side: what moved a gate between them, and what would mend it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from controlplane.errors import BadInput, NotFound
from gates.models import Window
from gates.selectors.evidence import book_for
from gates.selectors.verdicts import latest, live_window
from gates.states import Metric
from ingest.selectors.counted import counted
from orchid.engine.clocks import bound_of, latency_gates
from orchid.engine.diagnosis.cells import (
    Cell,
    Stratum,
    cells_of,
    latency_strata,
    strata,
    violation_strata,
)
from orchid.engine.diagnosis.change import Change
from orchid.engine.diagnosis.cost import Spent, cost_change
from orchid.engine.diagnosis.proposal import (
    Goal,
    Proposal,
    Windows,
    keeps_bound,
    next_experiment,
    propose,
)
from orchid.engine.diagnosis.shares import share_change
from orchid.engine.diagnosis.utility import utility_change
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import ledger_usd_between
from orchid.engine.segments import Where, matches
from orchid.engine.verdict.gates import Scope, least_utility, scopes
from orchid.engine.verdict.shares import LATENCY_SHARE
from orchid.engine.verdict.traffic import Coverage
from policies.models import Product
from policies.selectors import document_of

SHORTEST, LONGEST = 1, 7 * 24 * 60


@dataclass(frozen=True)
class Side:
    """A stretch of one window: whose traffic, from when to when."""

    window: Window
    start: datetime
    end: datetime

    @property
    def seconds(self) -> Decimal:
        return max(Decimal(0), Decimal(str((self.end - self.start).total_seconds())))


@dataclass(frozen=True)
class Diagnosis:
    """What moved one gate in one scope, and what is proposed.

    `ledger` is of both sides. `never_completed` says how many requests of a latency gate's count
    have no completion time: they are outside its bound, and a percentile of completions alone
    would leave them out.
    """

    metric: Metric
    scope: Scope
    before: Side
    after: Side
    change: Change
    n: tuple[int, int]
    keeps_bound: bool
    proposal: Proposal | None
    experiment: str
    never_completed: tuple[int, int] | None
    document: PolicyDocument

    @property
    def is_empty(self) -> bool:
        """Whether a side has nothing that the gate counts."""
        return 0 in self.n


@dataclass(frozen=True)
class _Read:
    """Both sides' cells of a scope (for the change) and of the whole (for a proposal)."""

    document: PolicyDocument
    scoped: tuple[list[Cell], list[Cell]]
    whole: tuple[list[Cell], list[Cell]]
    ledgers: tuple[Fraction, Fraction]


def diagnosis(
    product: Product,
    metric: str = "",
    segment: str = "",
    after: int | None = None,
    before: int | None = None,
    minutes: int | None = None,
) -> Diagnosis | None:
    """Compare the last minutes of `after` (default: what is live) with those of `before`.

    `before` is another window: in the same publication the other cohort's same minutes, else its
    last ones. Without it the incumbent of a canary, else the stretch of the same window that ends
    where `after` begins; a window too young for that is compared with the one before it. None
    before anything was judged. Raises BadInput or NotFound for what is not there.
    """
    window = _window(product, after) if after is not None else live_window(product)
    if window is None or latest(window) is None:
        return None
    document = document_of(window.digest)
    gate = _metric(document, metric)
    scope = _scope(document, segment)
    late = _last(window, _length(document, gate, minutes))
    early = _before(product, late, before)
    read = _read(document, scope.where, early, late)
    return _told(gate, scope, early, late, read)


def windows_of(product: Product) -> list[Window]:
    """What can be compared, newest first."""
    return list(Window.objects.filter(product=product).order_by("-opens_at", "-id")[:20])


def metrics_of(document: PolicyDocument) -> list[Metric]:
    """The gates of a document, in their order."""
    absent = {Metric.FIRST_TOKEN, Metric.OUTPUT_TOKEN, Metric.TOKEN_GAP}
    present = {Metric(name) for name in latency_gates(document)}
    return [metric for metric in Metric if metric not in absent or metric in present]


def goals_of(document: PolicyDocument, scope: Scope) -> dict[Metric, Goal]:
    """The gates of a scope by metric; cost has the whole alone."""
    gates, where = document.gates, scope.where
    found = {
        Metric(name): Goal(name, Fraction(repr(LATENCY_SHARE)), where, bound_of(name, gate).key)
        for name, gate in latency_gates(document).items()
    }
    found[Metric.COST] = Goal(Metric.COST, Fraction(gates.cost_per_success_usd.max), {})
    least = Fraction(repr(least_utility(document, scope)))
    found[Metric.UTILITY] = Goal(Metric.UTILITY, least, where)
    attainment = Fraction(repr(gates.attainment.min))
    found[Metric.ATTAINMENT] = Goal(Metric.ATTAINMENT, attainment, where)
    found[Metric.VIOLATIONS] = Goal(Metric.VIOLATIONS, Fraction(gates.violations.max), where)
    return found


def _told(metric: Metric, scope: Scope, early: Side, late: Side, read: _Read) -> Diagnosis:
    goals = goals_of(read.document, scope)
    change = _change(metric, read, goals[metric])
    windows = Windows(read.document, *read.whole, read.ledgers[1], Fraction(late.seconds))
    others = [goal for name, goal in goals.items() if name != metric]
    counted = [_strata(metric, cells, goals[metric]) for cells in read.scoped]
    lost = [
        sum(n for one in some for name, n in one.losses.items() if name != "over the bound")
        for some in counted
    ]
    return Diagnosis(
        metric=metric,
        scope=scope,
        before=early,
        after=late,
        change=change,
        n=(_n(counted[0]), _n(counted[1])),
        keeps_bound=keeps_bound(windows, goals[metric]),
        proposal=propose(windows, goals[metric], others, read.ledgers[0]),
        experiment=next_experiment(windows, _harm(metric, change)),
        never_completed=(lost[0], lost[1]) if goals[metric].latency_key else None,
        document=read.document,
    )


def _harm(metric: Metric, change: Change) -> list[Any]:
    """The parts that made it worse, the largest first; all of them where none did."""
    worse = 1 if metric in (Metric.COST,) else -1
    parts = change.ranked()
    return [part for part in parts if part.value * worse > 0] or parts


def _change(metric: Metric, read: _Read, goal: Goal) -> Change:
    if metric is Metric.COST:
        spent = [Spent(c, ledger) for c, ledger in zip(read.whole, read.ledgers, strict=True)]
        return cost_change(spent[0], spent[1])
    if metric is Metric.UTILITY:
        return utility_change(*read.scoped)
    before, after = (_strata(metric, cells, goal) for cells in read.scoped)
    return share_change(before, after)


def _strata(metric: Metric, cells: Sequence[Cell], goal: Goal) -> list[Stratum]:
    if goal.latency_key:
        return latency_strata(cells, goal.latency_key)
    if metric in (Metric.VIOLATIONS, Metric.UTILITY):
        return violation_strata(cells)
    return strata(cells)


def _n(some: Sequence[Stratum]) -> int:
    return sum(one.n for one in some)


def _read(document: PolicyDocument, where: Where, early: Side, late: Side) -> _Read:
    whole = _cells(early, document), _cells(late, document)
    scoped = [[cell for cell in cells if matches(where, cell.dims)] for cells in whole]
    ledgers = [
        Fraction(ledger_usd_between(document_of(side.window.digest), side.seconds))
        for side in (early, late)
    ]
    return _Read(document, (scoped[0], scoped[1]), whole, (ledgers[0], ledgers[1]))


def _cells(side: Side, judged_by: PolicyDocument) -> list[Cell]:
    """The side's cells with its own generation's evidence, and the bounds of the later one."""
    window = side.window
    where = window.product, window.digest, window.publication, window.cohort
    found = counted(*where, side.start, side.end)
    own = document_of(window.digest)
    bounds = [bound_of(name, gate) for name, gate in latency_gates(judged_by).items()]
    coverage = Coverage(own, found, book_for(window.product, own, side.end))
    return cells_of(found, coverage, bounds)


def _window(product: Product, pk: int) -> Window:
    found = Window.objects.filter(product=product, pk=pk).first()
    if found is None:
        raise NotFound("not_found", f"{product.slug} has no window {pk}.")
    return found


def _metric(document: PolicyDocument, name: str) -> Metric:
    known = metrics_of(document)
    if not name:
        return Metric.ATTAINMENT
    if name not in known:
        raise BadInput("unknown_gate", f"A gate is one of {', '.join(known)}.")
    return Metric(name)


def _scope(document: PolicyDocument, name: str) -> Scope:
    found = {scope.name: scope for scope in scopes(document)}
    if name not in found:
        raise BadInput("unknown_segment", f"A gated segment is one of {', '.join(found)}.")
    return found[name]


def _length(document: PolicyDocument, metric: Metric, minutes: int | None) -> timedelta:
    if minutes is None:
        return timedelta(milliseconds=getattr(document.gates, metric).window_ms)
    if not SHORTEST <= minutes <= LONGEST:
        raise BadInput("bad_minutes", f"Between {SHORTEST} and {LONGEST:,} minutes.")
    return timedelta(minutes=minutes)


def _last(window: Window, length: timedelta) -> Side:
    """The last stretch of a window that is counted."""
    evaluation = latest(window)
    end = evaluation.watermark if evaluation else window.opens_at
    return Side(window, max(_opened(window), end - length), end)


def _before(product: Product, late: Side, before: int | None) -> Side:
    window, length = late.window, late.end - late.start
    if before is not None and before != window.pk:
        return _beside(_window(product, before), late)
    if before is None and window.cohort == "candidate":
        twin = Window.objects.filter(
            product=product, publication=window.publication, cohort="incumbent"
        ).first()
        if twin is not None:
            return _beside(twin, late)
    opened = _opened(window)
    if before is not None or late.start - opened >= length / 2:
        return Side(window, max(opened, late.start - length), late.start)
    older = Window.objects.filter(product=product, opens_at__lt=window.opens_at)
    last = older.order_by("-opens_at", "-id").first()
    return _beside(last, late) if last else Side(window, opened, late.start)


def _beside(window: Window, late: Side) -> Side:
    """Of the same publication the same minutes; of another the last ones that were counted."""
    if window.publication == late.window.publication:
        return Side(window, late.start, late.end)
    return _last(window, late.end - late.start)


def _opened(window: Window) -> datetime:
    """The start of the step in which the window opened."""
    step = timedelta(seconds=document_of(window.digest).gates.step_s)
    return window.opens_at - (window.opens_at - datetime(1970, 1, 1, tzinfo=UTC)) % step
