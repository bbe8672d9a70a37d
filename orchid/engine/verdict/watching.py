"""The detector over a case: its state is carried from judgement to judgement, step by step.

A live generation is judged by stretches, and a stretch that starts anew would fail by luck sooner
or later if its own e-values could fail it. So what is live fails by the detector, whose false
alarms are as rare as the policy says however long it runs. A stage is watched by it as well, beside
the e-values of its one window.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from orchid.engine.clocks import bound_of, latency_gates
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict import detector
from orchid.engine.verdict.case import Case
from orchid.engine.verdict.detector import Alarm, State
from orchid.engine.verdict.gates import Scope, scopes
from orchid.engine.verdict.proportion import Floats
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.verdict.shares import LATENCY_SHARE
from orchid.engine.verdict.traffic import LATENCY_POPULATIONS, Coverage, Totals, totals_of
from orchid.engine.verdict.wording import e_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Digits of what is carried on: the same on every machine, and far more than a verdict needs.
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Seen:
    """The detector after a case: its state, what it says, and the tests in their order."""

    tests: list[tuple[str, str]]
    state: State
    alarm: Alarm
    run_length: int
    effects: list[float]

    def as_json(self) -> dict[str, Any]:
        """What the next judgement begins with."""
        return {**self.state.as_json(), "effects": self.effects}


def watch(case: Case, coverage: Coverage, results: Sequence[Result]) -> Seen:
    """Go on from the state before the case over the steps that came since."""
    document = case.document
    tests = [(metric, scope.name) for scope in scopes(document) for metric in _metrics(document)]
    due = np.array([_due(document, metric) for metric, _ in tests])
    effects = np.array(case.watched.effects or [document.gates.design_effect_prior] * len(tests))
    state = _before(case, len(tests))
    for s, n in zip(*_series(case, coverage), strict=True):
        state = detector.advance(state, s, n, due, effects)
    state = State(_rounded(state.log_r), state.steps)
    gates = document.gates
    run_length = detector.run_length_steps(gates.false_alarm_every_ms, gates.step_s)
    alarm = detector.alarm(state, run_length)
    return Seen(tests, state, alarm, run_length, _effects(tests, results, effects))


def alarmed(results: Sequence[Result], seen: Seen, restarted: frozenset[str]) -> list[Result]:
    """The results with what the detector says: it can fail a share, and in a scope of which the
    stretch has started anew nothing else can."""
    ringing = _ringing(seen)
    place = {test: n for n, test in enumerate(seen.tests)}
    return [
        result
        if (n := place.get((result.metric, result.segment))) is None
        else _told(result, seen, n, n in ringing, result.segment in restarted)
        for result in results
    ]


def _ringing(seen: Seen) -> set[int]:
    """The tests that ring alone; where only their mean does, the one that says most of it."""
    alone = set(np.flatnonzero(seen.alarm.alone).tolist())
    if alone or not seen.alarm.rings:
        return alone
    return {int(np.argmax(seen.state.log_evidence))}


def _told(result: Result, seen: Seen, test: int, rings: bool, restarted: bool) -> Result:
    if rings:
        return replace(result, verdict=Verdict.FAIL, message=_alarm(result, seen, test), needs=None)
    if not restarted:
        return result
    verdict = Verdict.INCONCLUSIVE if result.verdict is Verdict.FAIL else result.verdict
    said = result.message.partition(": ")[2] if verdict is not result.verdict else ""
    message = f"inconclusive: {said}; the detector has not rung" if said else result.message
    return replace(result, verdict=verdict, message=message, log_e_fail=None)


def _alarm(result: Result, seen: Seen, test: int) -> str:
    log_r = float(seen.state.log_evidence[test])
    due = seen.run_length * len(seen.tests)
    said = result.message.partition(": ")[2] or result.message
    return (
        f"fail: the detector rings, R = {e_text(log_r)} where {due:,} are due alone "
        f"(a false alarm in {seen.run_length:,} steps on average); {said}"
    )


def _before(case: Case, tests: int) -> State:
    watched = case.watched
    if not watched.log_r:
        return State.new(tests)
    return State.of_json({"steps": watched.steps, "log_r": watched.log_r})


def _metrics(document: PolicyDocument) -> list[str]:
    return [*latency_gates(document), "attainment"]


def _due(document: PolicyDocument, metric: str) -> float:
    return document.gates.attainment.min if metric == "attainment" else LATENCY_SHARE


def _series(case: Case, coverage: Coverage) -> tuple[Floats, Floats]:
    """Good requests and all of them, [step, test]; a step without traffic is a row of zeros."""
    document, counted = case.document, case.watched.counted
    parts = scopes(document)
    width = len(parts) * len(_metrics(document))
    if counted is None:
        return np.zeros((0, width)), np.zeros((0, width))
    steps = (counted.end - counted.start) // timedelta(seconds=counted.step_s)
    first = (counted.start - _EPOCH) // timedelta(seconds=1)
    s, n = np.zeros((steps, width)), np.zeros((steps, width))
    found = totals_of(counted, [part.where for part in parts], coverage)
    for scope, (part, totals) in enumerate(zip(parts, found, strict=True)):
        rows = (totals.by_block.at_s - first) // counted.step_s
        columns = slice(scope * len(_metrics(document)), (scope + 1) * len(_metrics(document)))
        s[rows, columns], n[rows, columns] = _shares(document, part, totals)
    return s, n


def _shares(document: PolicyDocument, scope: Scope, totals: Totals) -> tuple[Floats, Floats]:
    """Of one scope, [block, metric]. A bound that was not compared everywhere says nothing."""
    by, good, total = totals.by_block, [], []
    for metric, gate in latency_gates(document).items():
        bound = bound_of(metric, gate)
        exact = totals.judged.get(bound.key, 0) == totals.of(bound.population)
        known = exact and bound.key in totals.bounds
        place = totals.bounds.index(bound.key) if known else 0
        zeros = np.zeros(len(by.at_s))
        good.append(by.within[:, place] if known else zeros)
        counted = by.counted[:, LATENCY_POPULATIONS.index(bound.population)]
        total.append(counted if known else zeros)
    columns = (np.column_stack([*good, by.successes]), np.column_stack([*total, by.eligible]))
    return columns[0].astype(float), columns[1].astype(float)


def _effects(
    tests: Sequence[tuple[str, str]], results: Sequence[Result], before: Floats
) -> list[float]:
    """The design effects that the window shows, for the steps that are to come."""
    found = {(r.metric, r.segment): r.n / r.n_effective for r in results if r.n_effective}
    known = [found.get(test, float(b)) for test, b in zip(tests, before, strict=True)]
    return [float(f"{effect:.{_DIGITS}g}") for effect in known]


def _rounded(log_r: Floats) -> Floats:
    rows = [[x if math.isinf(x) else float(f"{x:.{_DIGITS}g}") for x in row] for row in log_r]
    return np.array(rows, dtype=np.float64).reshape(log_r.shape)
