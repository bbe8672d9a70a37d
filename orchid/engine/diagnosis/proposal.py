"""The smallest change of policy that brings a gate back, its effect on the others, what to try."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

from orchid.engine.diagnosis.candidates import (
    Candidate,
    Edit,
    cuts,
    denials,
    fallback_moves,
    unknown_moves,
)
from orchid.engine.diagnosis.cells import UNPROVEN, Cell
from orchid.engine.diagnosis.change import Effect, Part
from orchid.engine.diagnosis.expected import Expected, of_cells
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.wording import selector_words
from orchid.engine.segments import dims_of, matches

LATENCY = "latency"
NOT_A_VERDICT = (
    "Recomputed on the recorded counts. It is no verdict: the next generation's own window is."
)


@dataclass(frozen=True, slots=True)
class Goal:
    """A gate in one scope: its metric, its bound, and the key of a latency bound."""

    metric: str
    bound: Fraction
    where: Mapping[str, Any]
    latency_key: str = ""

    def read(self, counts: Expected, ledger_usd: Fraction) -> Fraction | None:
        """The gate's figure in these counts."""
        if self.latency_key:
            return counts.share_within(self.latency_key)
        if self.metric == "cost_per_success_usd":
            return counts.cost_usd(ledger_usd)
        if self.metric == "violations":
            return counts.violations
        return counts.utility if self.metric == "utility" else counts.attainment

    @property
    def less_is_better(self) -> bool:
        return self.metric in ("cost_per_success_usd", "violations")

    def keeps(self, value: Fraction | None, bound: Fraction) -> bool:
        """Whether a figure is on the good side; equality is."""
        if value is None:
            return False
        return value <= bound if self.less_is_better else value >= bound

    def gain(self, value: Fraction, was: Fraction) -> Fraction:
        """How much better a figure is than another."""
        return was - value if self.less_is_better else value - was


@dataclass(frozen=True, slots=True)
class Outlook:
    """One gate's figure as recorded and as recomputed, and whether each keeps the bound."""

    goal: Goal
    recorded: Fraction | None
    expected: Fraction | None

    @property
    def kept(self) -> bool:
        return self.goal.keeps(self.recorded, self.goal.bound)

    @property
    def keeps(self) -> bool:
        return self.goal.keeps(self.expected, self.goal.bound)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The change that is proposed, its effect on every gate, and what is not known of it.

    `brings_back` is false where no candidate reaches the `target`; the best of them is shown then.
    """

    change: Candidate
    target: Fraction
    brings_back: bool
    outlook: tuple[Outlook, ...]
    """The gate itself first, then the others."""
    caveats: tuple[str, ...]

    @property
    def is_within(self) -> bool:
        """Whether the gate then keeps its bound, and not only what it was before."""
        return self.outlook[0].keeps


@dataclass(frozen=True, slots=True)
class Windows:
    """Two windows of cells; `seconds` and `ledger_usd` are of the later one."""

    document: PolicyDocument
    before: Sequence[Cell]
    after: Sequence[Cell]
    ledger_usd: Fraction
    seconds: Fraction


def keeps_bound(windows: Windows, goal: Goal) -> bool:
    """Whether the gate is on the good side of its bound as it was recorded."""
    return goal.keeps(goal.read(_scope(windows.after, goal), windows.ledger_usd), goal.bound)


def propose(
    windows: Windows, goal: Goal, others: Sequence[Goal], base_usd: Fraction
) -> Proposal | None:
    """The smallest candidate that brings the gate back.

    None where the gate keeps its bound as it is, or where no candidate makes it better. The target
    is the bound; where the window before missed that already, it is that window's figure, since a
    change can take back what it added and no more. `base_usd` is that window's ledger.
    """
    recorded = _scope(windows.after, goal)
    was = goal.read(recorded, windows.ledger_usd)
    if was is None or keeps_bound(windows, goal):
        return None
    target = _target(windows, goal, base_usd)
    found = [(c, _reached(windows, goal, c, recorded)) for c in _candidates(windows, goal)]
    better = [(c, value) for c, value in found if value is not None and goal.gain(value, was) > 0]
    reaching = [c for c, value in better if goal.keeps(value, target)]
    if reaching:
        return _proposal(windows, min(reaching, key=_size), target, True, (goal, *others))
    if better:
        best = max(better, key=lambda pair: (goal.gain(pair[1], was), -pair[0].requests))
        return _proposal(windows, best[0], target, False, (goal, *others))
    return None


def applied(given: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """A document's given keys with the edits made."""
    document = deepcopy(dict(given))
    for edit in edits:
        *parents, last = edit.path
        place: Any = document
        for name in parents:
            place = place.setdefault(name, [] if last == "+" and name == parents[-1] else {})
        if last == "+":
            place.append(edit.value)
        else:
            place[last] = edit.value
    return document


def next_experiment(windows: Windows, parts: Sequence[Part]) -> str:
    """What would tell cause from coincidence, for the part that weighs most."""
    worst = next((p for p in parts if p.segment and p.effect is not Effect.MIX), None)
    if worst is None:
        return "Replay both windows' traffic on one generation: what differs then is the traffic."
    named = windows.document.segments.dimensions
    dims = {name: value for name, value in dims_of(worst.segment).items() if name in named}
    segment = selector_words(dims)
    outcome = worst.outcome or _worst_outcome(windows, worst)
    if outcome == UNPROVEN:
        return f"Run the frozen suite of {segment} on {worst.route}: its answers count for nothing."
    asked = _other_route(windows, worst)
    if asked is None:
        return (
            f"Send the recorded inputs where {segment} through {worst.route or 'the route'} again."
        )
    said = f"Send the same inputs where {segment} through {worst.route} and {asked}"
    said += _enough(windows, worst, outcome)
    if outcome in ("violation", "failed"):
        said += (
            ". The alternative to moving them: a constrained decoder or a task model, under the "
            "full contract"
        )
    return f"{said}."


def _candidates(windows: Windows, goal: Goal) -> Iterable[Candidate]:
    document = windows.document
    moves = fallback_moves(document, windows.after, windows.before)
    unknown = unknown_moves(document, windows.after, moves)
    yield from denials(moves, unknown, document.segments.dimensions)
    if goal.metric == "attainment":
        yield from cuts(document, windows.after)


def _scope(cells: Iterable[Cell], goal: Goal) -> Expected:
    return of_cells(cell for cell in cells if matches(goal.where, cell.dims))


def _reached(
    windows: Windows, goal: Goal, candidate: Candidate, recorded: Expected
) -> Fraction | None:
    return goal.read(candidate.counts(recorded, goal.where), windows.ledger_usd)


def _target(windows: Windows, goal: Goal, base_usd: Fraction) -> Fraction:
    """The bound, or what held before the change where that missed the bound too.

    Violations are compared at the later window's size.
    """
    before = _scope(windows.before, goal)
    value = goal.read(before, base_usd)
    if goal.metric == "violations" and value is not None and before.served:
        value = value * _scope(windows.after, goal).served / before.served
    if value is None or goal.keeps(value, goal.bound):
        return goal.bound
    return value


def _size(candidate: Candidate) -> tuple[Fraction, Fraction, int, int, str]:
    """Requests touched, then how far a limit is cut, then rules, then the words they take."""
    words = candidate.words
    return candidate.requests, candidate.depth, len(candidate.edits), len(words), words


def _proposal(
    windows: Windows, change: Candidate, target: Fraction, back: bool, goals: Sequence[Goal]
) -> Proposal:
    outlook = tuple(_outlook(windows, goal, change) for goal in goals)
    return Proposal(change, target, back, outlook, tuple(_caveats(windows, change, outlook)))


def _outlook(windows: Windows, goal: Goal, change: Candidate) -> Outlook:
    recorded = _scope(windows.after, goal)
    return Outlook(
        goal,
        goal.read(recorded, windows.ledger_usd),
        _reached(windows, goal, change, recorded),
    )


def _caveats(windows: Windows, change: Candidate, outlook: Sequence[Outlook]) -> Iterable[str]:
    yield NOT_A_VERDICT
    yield from change.assumes
    rate = (
        change.counts(of_cells(windows.after), {}).teu / windows.seconds
        if windows.seconds
        else Fraction(0)
    )
    fleet = windows.document.fleet
    safe = fleet.devices * Fraction(fleet.raw_teu_per_s) * Fraction(fleet.safe_factor)
    if rate > safe:
        yield f"It takes {float(rate):,.0f} TEU/s, more than the fleet's safe {float(safe):,.0f}."
    for one in outlook[1:]:
        if one.kept and not one.keeps:
            yield f"It would cost another gate: {one.goal.metric} would leave its bound."


def _other_route(windows: Windows, part: Part) -> str | None:
    """The route that the same requests ask for, or may fall back to."""
    for rule in windows.document.fallback:
        if rule.to == part.route and rule.from_:
            return rule.from_
    routes = {cell.route for cell in (*windows.before, *windows.after) if cell.route}
    return next(iter(sorted(routes - {part.route})), None)


def _cell(windows: Windows, part: Part) -> Cell | None:
    return next((c for c in windows.after if c.key == (part.segment, part.route)), None)


def _worst_outcome(windows: Windows, part: Part) -> str:
    """How most of the lost requests ended where a part names no outcome of its own."""
    cell = _cell(windows, part)
    losses = cell.ended.losses if cell else {}
    return max(losses, key=lambda name: (losses[name], name), default="")


def _enough(windows: Windows, part: Part, outcome: str) -> str:
    """How many inputs show the outcome at its recorded rate with 95 %: (1 - rate)^n = 0.05."""
    cell = _cell(windows, part)
    lost = cell.ended.losses.get(outcome, 0) if cell else 0
    if cell is None or not 0 < lost < cell.eligible:
        return ""
    n = ceil(log(0.05) / log(1 - lost / cell.eligible))
    return f", {n:,} of them at least"
