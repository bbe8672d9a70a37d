"""All results of one evaluation as one verdict: worst wins, and an empty set never passes.

Passing needs every gate in every gated segment, which is an intersection-union test: each at the
full alpha_pass, and the whole passes wrongly with a chance of at most alpha_pass (Berger 1982).
Failing needs any one, so it is corrected: one result at alpha_fail/tests, or the mean of all
e-values at 1/alpha_fail (Vovk, Wang 2021; Grünwald, de Heide, Koolen 2024).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchid.engine.verdict.result import Result, Verdict


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
    shared = _mean_e_fails(results, alpha_fail)
    if worst.verdict is not Verdict.FAIL and shared is not None:
        return Overall(Verdict.FAIL, (f"together: {_named(shared)}",), shared)
    verdict = _verdict_of(results, worst)
    reasons = tuple(_named(r) for r in ranked if r.verdict is not Verdict.PASS)
    return Overall(verdict, reasons, worst)


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


def _mean_e_fails(results: Sequence[Result], alpha_fail: float) -> Result | None:
    """The result that says most of a harm that only all e-values together show."""
    tests = [r for r in results if r.log_e_fail is not None and r.n >= max(1, r.minimum)]
    if not tests:
        return None
    logs = [r.log_e_fail for r in tests if r.log_e_fail is not None]
    top = max(logs)
    if math.isinf(top):
        return None
    mean = top + math.log(sum(math.exp(value - top) for value in logs) / len(logs))
    return max(tests, key=lambda r: r.log_e_fail or 0.0) if mean >= -math.log(alpha_fail) else None


def _named(result: Result) -> str:
    where = f"segment {result.segment}" if result.segment else "whole"
    return f"{result.metric}, {where}: {result.message}"
