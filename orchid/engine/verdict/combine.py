"""All results of one evaluation as one verdict: worst wins, and an empty set never passes.

Passing needs every gate in every gated segment, which is an intersection-union test: each at the
full alpha_pass, and the whole passes wrongly with a chance of at most alpha_pass (Berger 1982,
Technometrics 24). Failing needs any one, so it is corrected: one result at alpha_fail/tests, or the
mean of all e-values at 1/alpha_fail (Vovk, Wang 2021, Ann. Statist. 49; Grünwald, de Heide, Koolen
2024, J. R. Stat. Soc. B 86). What is counted exactly, cost and violations, is no test and needs no
correction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import e_text


@dataclass(frozen=True, slots=True)
class Overall:
    """The verdict of the whole, why, and which result is its worst."""

    verdict: Verdict
    reasons: tuple[str, ...]
    worst: Result | None


def combine(results: Sequence[Result], alpha_fail: float) -> Overall:
    """The worst of the results; silence in one segment is inconclusive for the whole."""
    if not results:
        return Overall(Verdict.NO_DATA, ("no gate was evaluated",), None)
    ranked = sorted(results, key=_badness)
    worst = ranked[0]
    if worst.verdict is not Verdict.FAIL and (together := _together(results, alpha_fail)):
        return together
    verdict = _verdict_of(results, worst)
    reasons = tuple(_named(r) for r in ranked if r.verdict is not Verdict.PASS)
    return Overall(verdict, reasons, worst)


def joined(one: Overall, other: Overall) -> Overall:
    """Two families of results as one verdict, each corrected by itself: worst wins, both must pass.

    The chance that luck alone fails the two is at most the sum of theirs.
    """
    first, second = sorted((one, other), key=lambda overall: _ORDER.index(overall.verdict))
    alike = first.verdict is second.verdict
    verdict = first.verdict if alike or first.verdict is Verdict.FAIL else Verdict.INCONCLUSIVE
    return Overall(verdict, (*first.reasons, *second.reasons), first.worst or second.worst)


def multiplicity_text(levels: Levels) -> str:
    """`17 tests; each passes at e >= 20, and all must; a fail needs e >= 1,700 in one or ...`."""
    tests = f"{levels.tests:,} test{'' if levels.tests == 1 else 's'}"
    alone, mean = 1 / levels.alpha_each_fail, 1 / levels.alpha_fail
    said = f"{tests}; each passes at e >= {1 / levels.alpha_pass:,.0f}, and all must"
    return f"{said}; a fail needs e >= {alone:,.0f} in one or a mean of {mean:,.0f}"


def _verdict_of(results: Sequence[Result], worst: Result) -> Verdict:
    if worst.verdict is Verdict.FAIL:
        return Verdict.FAIL
    silent = [result.verdict is Verdict.NO_DATA for result in results]
    if all(silent):
        return Verdict.NO_DATA
    return Verdict.INCONCLUSIVE if any(silent) else worst.verdict


_ORDER = (Verdict.FAIL, Verdict.NO_DATA, Verdict.INCONCLUSIVE, Verdict.PASS)


def _badness(result: Result) -> tuple[int, float]:
    """Worst verdict first, then the strongest evidence of harm, then the weakest of good."""
    bad = result.log_e_fail if result.log_e_fail is not None else -math.inf
    return _ORDER.index(result.verdict), -bad


def _together(results: Sequence[Result], alpha_fail: float) -> Overall | None:
    """A harm that only all e-values together show, told by the result that says most of it."""
    tests = {
        place: result.log_e_fail
        for place, result in enumerate(results)
        if result.log_e_fail is not None and result.n >= max(1, result.minimum)
    }
    logs = np.array(list(tests.values()))
    if not logs.size or np.isposinf(logs).any():
        return None
    mean = float(np.logaddexp.reduce(logs)) - math.log(len(logs))
    if mean < -math.log(alpha_fail):
        return None
    most = results[max(tests, key=lambda place: tests[place])]
    said = f"together: the e-values of {len(logs):,} tests have a mean of {e_text(mean)}"
    return Overall(Verdict.FAIL, (f"{said}; most of it is {_named(most)}",), most)


def _named(result: Result) -> str:
    where = f"segment {result.segment}" if result.segment else "whole"
    return f"{result.metric}, {where}: {result.message}"
