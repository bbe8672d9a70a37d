"""A judgement: validity, verdict and action of a case, with every result and figure behind them.

It is a pure function of the case, and its JSON has one spelling, so that whoever has a case's bytes
can check that a stored judgement is what follows from it. Floats of the special functions are told
to ten digits: more than any verdict needs, and the same wherever they are computed.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import Where, dims_of, matches
from orchid.engine.verdict import accepted, action, against, comparison, validity, violations
from orchid.engine.verdict.action import Action
from orchid.engine.verdict.case import Case, Exposed, Stratum
from orchid.engine.verdict.combine import Overall, combine, joined, multiplicity_text
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.coverage import Coverage
from orchid.engine.verdict.design_effect import PAST, estimate_all
from orchid.engine.verdict.evidence import Book
from orchid.engine.verdict.figures import figures_of
from orchid.engine.verdict.gates import Judged, Observed, judge, levels_of, scopes
from orchid.engine.verdict.guardrails import guardrail_results
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.verdict.validity import REQUESTS, Check, State
from orchid.engine.verdict.watching import Seen, alarmed, watch

SCHEMA = "orchid.judgement/v1"
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Judgement:
    """What follows from a case. `why` is the action's reason, `reasons` those of the verdict.

    `watched` is the detector's state, with which the next judgement begins.
    """

    checks: tuple[Check, ...]
    verdict: Verdict
    action: Action
    why: str
    reasons: tuple[str, ...]
    results: tuple[Result, ...]
    figures: dict[str, Any]
    watched: dict[str, Any]
    end: datetime
    evidence_digest: str

    @property
    def state(self) -> State:
        """The gravest of the checks."""
        return validity.worst(self.checks)

    @property
    def validity(self) -> dict[str, Any]:
        """The checks as JSON, with whether they leave a pass or any verdict at all."""
        broken = any(check.state is State.BROKEN for check in self.checks)
        return {
            "valid": self.state is State.OK,
            "attribution": not broken,
            "state": self.state,
            "checks": [
                {"name": check.name, "state": check.state, "message": check.message}
                for check in self.checks
            ],
        }

    def as_json(self) -> bytes:
        """The one spelling of the judgement."""
        body = {
            "schema": SCHEMA,
            "watermark": self.end.isoformat(),
            "evidence_digest": self.evidence_digest,
            "validity": self.validity,
            "verdict": self.verdict,
            "action": self.action,
            "why": self.why,
            "reasons": self.reasons,
            "results": self.results,
            "figures": self.figures,
            "watched": self.watched,
        }
        return msgspec.json.encode(body, order="deterministic")

    @property
    def digest(self) -> str:
        """Of the judgement's spelling."""
        return f"sha256:{hashlib.sha256(self.as_json()).hexdigest()}"


def judge_case(case: Case) -> Judgement:
    """Validity first, then every gate, then what the policy does about it."""
    document = case.document
    judged = judge(document, _observed(case))
    seen = watch(case, judged.coverage, judged.results)
    known = _with_running(case, judged)
    beside = _against_incumbent(case, judged)
    told = [
        *alarmed(known, seen, _restarted(case)),
        *(one.result for one in beside if one.result.bound),
        *(guardrail_results(document, case.guarded) if case.subject.is_stage else ()),
    ]
    claims = _accepted(case, judged)
    checks = validity.check_all(
        case.subject, case.facts, case.end, _exposed(case), case.apart, case.behind
    )
    overall = _overall(told, claims, document.gates.alpha_fail)
    verdict = validity.apply(overall.verdict, checks)
    on_breach = document.rollout.on_breach
    failed = _failed(overall)
    decided = action.decide(case.subject, case.end, verdict, checks, on_breach, failed)
    return Judgement(
        checks=tuple(checks),
        verdict=verdict,
        action=decided.action,
        why=decided.why,
        reasons=_reasons(checks, overall),
        results=tuple(_spelled(validity.held(result, checks)) for result in (*told, *claims)),
        figures={
            **figures_of(case, judged),
            "multiplicity": _multiplicity(document, seen) | _claimed(case, claims),
            "design_effect": _design_effect(document, judged),
            "against_incumbent": [_compared(one, document, checks) for one in beside],
        },
        watched=seen.as_json(),
        end=case.end,
        evidence_digest=case.evidence_digest,
    )


def _accepted(case: Case, judged: Judged) -> list[Result]:
    """What was accepted binds the stages that lead to it; what is live answers to its gates."""
    if not case.subject.is_stage:
        return []
    return accepted.accepted_results(case.document, judged, case.accepted)


def _overall(told: Sequence[Result], claims: Sequence[Result], alpha_fail: float) -> Overall:
    overall = combine(told, alpha_fail)
    return joined(overall, combine(claims, alpha_fail)) if claims else overall


def _failed(overall: Overall) -> str:
    """Whether a gate failed, or no gate but a figure that its approvers signed."""
    signed = overall.worst is not None and overall.worst.metric.startswith(accepted.PREFIX)
    return "no gate failed, a figure that was signed did," if signed else "a gate failed"


def _observed(case: Case) -> Observed:
    first, *others = case.parts
    return Observed(
        counted=first.counted,
        cost=case.costs.counted,
        cost_seconds=case.costs.seconds,
        book=Book(case.evidence, case.document, case.end),
        own={name: part.counted for part in others for name in part.scopes},
    )


def _against_incumbent(case: Case, judged: Judged) -> list[against.Beside]:
    """A canary beside the other cohort in the same minutes; without a limit it is only shown."""
    if case.beside is None or case.subject.cohort != "candidate" or not case.subject.is_stage:
        return []
    book = Book(case.evidence, case.document, case.end)
    candidate = against.Cohort(judged.counted, judged.coverage)
    incumbent = against.Cohort(case.beside, Coverage(case.document, case.beside, book))
    return against.results(case.document, candidate, incumbent, levels_of(case.document))


def _compared(
    beside: against.Beside, document: PolicyDocument, checks: Sequence[Check]
) -> dict[str, Any]:
    alpha = levels_of(document).alpha_pass
    return {
        **asdict(_spelled(validity.held(beside.result, checks))),
        "strata": [_stratum(*part, alpha) for part in beside.strata],
    }


def _stratum(
    part: comparison.Stratum, found: comparison.Difference | None, alpha: float
) -> dict[str, Any]:
    """Both arms of a stratum, and their difference with an interval that is its own."""
    low, high = found.interval(alpha) if found else (None, None)
    return {
        "stratum": part.name,
        "candidate": asdict(part.candidate),
        "incumbent": asdict(part.incumbent),
        "points": _number(found.points) if found else None,
        "low": _number(low),
        "high": _number(high),
    }


def _with_running(case: Case, judged: Judged) -> list[Result]:
    """A violation of a step that is not over yet fails as any other, and at once."""
    if not case.running:
        return list(judged.results)
    wheres = {scope.name: scope.where for scope in scopes(case.document)}
    return [
        _violated(case, judged, result, wheres[result.segment])
        if result.metric == "violations"
        else result
        for result in judged.results
    ]


def _violated(case: Case, judged: Judged, result: Result, where: Where) -> Result:
    now = sum(count for key, count in case.running if matches(where, dims_of(key)))
    if not now:
        return result
    totals, most = judged.totals[result.segment], case.document.gates.violations.max
    seen = violations.Delivered(
        totals.served + now, totals.of("violation") + now, result.minimum, totals.found
    )
    told = violations.judge(result.segment, seen, most)
    return replace(told, message=f"{told.message}; {now:,} of them in the step that still runs")


def _restarted(case: Case) -> frozenset[str]:
    """The scopes of which a stretch has begun after the window opened."""
    if case.subject.is_stage:
        return frozenset()
    starts = {scope.name: case.part_of(scope.name).start for scope in scopes(case.document)}
    return frozenset(name for name, start in starts.items() if start > case.subject.opens_at)


def _exposed(case: Case) -> Exposed | None:
    """The split in units; where no edge told single requests, in requests of both cohorts."""
    if not case.is_split:
        return None
    if case.exposed is not None or case.beside is None:
        return case.exposed
    both = (case.parts[0].counted, case.beside)
    mine, other = both if case.subject.cohort == "candidate" else both[::-1]
    if case.apart:
        return Exposed(REQUESTS, tuple(_by_cell(mine, other)))
    return Exposed(REQUESTS, (Stratum("", mine.total("eligible"), other.total("eligible")),))


def _by_cell(mine: Counted, other: Counted) -> Iterator[Stratum]:
    """Eligible requests of both cohorts by their dimensions: fractions differ between segments."""
    by_key: dict[str, list[int]] = {}
    for place, counted in enumerate((mine, other)):
        for name, count in zip(counted.cells, counted.of("eligible").tolist(), strict=True):
            by_key.setdefault(name.dims_key, [0, 0])[place] += count
    for key in sorted(by_key):
        yield Stratum(key, *by_key[key])


def _reasons(checks: Sequence[Check], overall: Overall) -> tuple[str, ...]:
    off = [f"{one.name}: {one.message}" for one in checks if one.state is not State.OK]
    return (*off, *overall.reasons)


def _multiplicity(document: PolicyDocument, seen: Seen) -> dict[str, Any]:
    """How many results could pass or fail by luck, and at which levels that was allowed for."""
    levels = levels_of(document)
    return {
        "said": multiplicity_text(levels),
        "tests": levels.tests,
        "alpha_pass_each": levels.alpha_pass,
        "alpha_fail": levels.alpha_fail,
        "alpha_fail_each": levels.alpha_each_fail,
        "detector_tests": len(seen.tests),
        "run_length_steps": seen.run_length,
        "false_alarm_within_stage": min(1.0, seen.state.steps / seen.run_length),
    }


def _claimed(case: Case, claims: Sequence[Result]) -> dict[str, Any]:
    """The levels of the accepted figures, which are a family of their own; nothing without any."""
    if not claims:
        return {}
    levels = accepted.levels_of(case.document, case.accepted)
    return {"accepted_tests": levels.tests, "alpha_accepted_each": levels.alpha_each_fail}


def _design_effect(document: PolicyDocument, judged: Judged) -> dict[str, Any]:
    """What the document declares of neighbours, and what it should by the blocks of this window.

    A window of too few blocks cannot tell.
    """
    by, prior = judged.totals[""].by_block, document.gates.design_effect_prior
    enough = len(by.at_s) >= PAST.least_blocks
    told = estimate_all(by.successes[None], by.eligible[None], 1.0, PAST) if enough else None
    return {
        "declared": prior,
        "to_declare": None if told is None else _number(float(told[0])),
        "blocks": len(by.at_s),
    }


def _spelled(result: Result) -> Result:
    """Finite numbers of ten digits; JSON has no infinity."""
    return replace(
        result,
        low=_number(result.low),
        high=_number(result.high),
        n_effective=_number(result.n_effective) or 0.0,
        log_e_pass=_number(result.log_e_pass),
        log_e_fail=_number(result.log_e_fail),
        needs_s=_number(result.needs_s),
    )


def _number(number: float | None) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return float(f"{number:.{_DIGITS}g}")
