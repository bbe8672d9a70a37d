"""A canary beside the incumbent in the same minutes, within the strata that the rollout names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchid.engine.clocks import bound_of, latency_gates
from orchid.engine.document.model import PolicyDocument
from orchid.engine.rollup_columns import Wholes
from orchid.engine.segments import Where
from orchid.engine.verdict import comparison, design_effect
from orchid.engine.verdict.comparison import Arm, Effects, Stratum
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.coverage import Coverage
from orchid.engine.verdict.result import Levels, Result
from orchid.engine.verdict.traffic import LATENCY_POPULATIONS, Totals, totals_of
from orchid.engine.verdict.wording import AGAINST_INCUMBENT

_UNTOLD = "not told apart"


@dataclass(frozen=True)
class Cohort:
    """One cohort's traffic and what evidence says of it."""

    counted: Counted
    coverage: Coverage


@dataclass(frozen=True)
class Beside:
    """One share of a canary beside the incumbent's: the result, and each stratum behind it.

    A stratum without a difference has too few requests in an arm.
    """

    result: Result
    strata: tuple[tuple[Stratum, comparison.Difference | None], ...]


@dataclass(frozen=True)
class _Measured:
    """One share of a cohort: by stratum, and by time block for its design effect."""

    arms: Mapping[str, Arm]
    blocks: Sequence[tuple[int, int]]


def limits_of(document: PolicyDocument) -> dict[str, float | None]:
    """By share, the largest loss allowed; None gates nothing."""
    given = document.gates.against_incumbent
    latency = None if given is None else given.latency
    attainment = None if given is None else given.attainment
    return dict.fromkeys(latency_gates(document), latency) | {"attainment": attainment}


def tests_of(document: PolicyDocument) -> int:
    """How many of the comparisons can fail."""
    return sum(limit is not None for limit in limits_of(document).values())


def results(
    document: PolicyDocument, candidate: Cohort, incumbent: Cohort, levels: Levels
) -> list[Beside]:
    """Every share of the document as a difference; those without a limit only show it."""
    strata = sorted({*_strata(document, candidate), *_strata(document, incumbent)})
    mine, other = (dict(_shares(document, one, strata)) for one in (candidate, incumbent))
    minimum = document.gates.attainment.minimum_sample
    prior = document.gates.design_effect_prior
    found = []
    for metric, limit in limits_of(document).items():
        if metric in mine and metric in other:
            effects = _effects(mine[metric], other[metric], prior)
            parts = _paired(mine[metric], other[metric])
            whole = comparison.difference(parts, effects)
            told = comparison.judge(metric + AGAINST_INCUMBENT, whole, limit, minimum, levels)
            each = tuple((part, comparison.difference([part], effects)) for part in parts)
            found.append(Beside(told, each))
    return found


def _effects(mine: _Measured, other: _Measured, prior: float) -> Effects:
    return Effects(*(design_effect.estimate(one.blocks, prior) for one in (mine, other)))


def _paired(mine: _Measured, other: _Measured) -> list[Stratum]:
    strata = (Stratum(name, mine.arms[name], other.arms[name]) for name in mine.arms)
    return [stratum for stratum in strata if _is_there(stratum)]


def _is_there(stratum: Stratum) -> bool:
    return bool(stratum.candidate.total or stratum.incumbent.total)


def _strata(document: PolicyDocument, cohort: Cohort) -> set[tuple[str, ...]]:
    """The values of the strata's dimensions, where a cell tells all of them."""
    names = document.rollout.strata
    told = (tuple(cell.dims.get(name, "") for name in names) for cell in cohort.counted.cells)
    return {values for values in told if all(values)}


def _shares(
    document: PolicyDocument, cohort: Cohort, strata: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, _Measured]]:
    names = document.rollout.strata
    wheres: list[Where] = [dict(zip(names, values, strict=True)) for values in strata if values]
    whole, *parts = totals_of(cohort.counted, [{}, *wheres], cohort.coverage)
    labels = [", ".join(values) for values in strata if values]
    for metric, gate in latency_gates(document).items():
        bound = bound_of(metric, gate)
        if _is_exact(whole, bound.key, bound.population):
            arms = [
                Arm(t.within.get(bound.key, 0), t.of(bound.population)) for t in (whole, *parts)
            ]
            by, place = whole.by_block, whole.bounds.index(bound.key)
            counted = by.counted[:, LATENCY_POPULATIONS.index(bound.population)]
            yield metric, _measured(labels, arms, by.within[:, place], counted)
    arms = [Arm(t.successes, t.of("eligible")) for t in (whole, *parts)]
    yield "attainment", _measured(labels, arms, whole.by_block.successes, whole.by_block.eligible)


def _is_exact(whole: Totals, key: str, population: str) -> bool:
    """Whether every request was compared with the bound, which the other arm's may not be."""
    return key in whole.bounds and whole.judged.get(key, 0) == whole.of(population)


def _measured(labels: Sequence[str], arms: Sequence[Arm], good: Wholes, all_: Wholes) -> _Measured:
    whole, *parts = arms
    rest = Arm(
        whole.within - sum(arm.within for arm in parts), whole.total - sum(a.total for a in parts)
    )
    named = dict(zip(labels, parts, strict=True)) | {_UNTOLD: rest}
    return _Measured(named, list(zip(good.tolist(), all_.tolist(), strict=True)))
