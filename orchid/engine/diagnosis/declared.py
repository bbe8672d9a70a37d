"""A declared case: changes that a product states, diagnosed by the functions that read windows.

A declared figure is never recomputed. What follows from several of them is: two changes of cost
give the successes per admitted request, failures and retries explain a part of that, and the rest
is shown as what it is, unexplained.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from orchid.engine.diagnosis.cells import Cell, Stratum, violation_strata
from orchid.engine.diagnosis.change import NOTHING, Change
from orchid.engine.diagnosis.proposal import Goal, Proposal, Windows, propose
from orchid.engine.diagnosis.shares import share_change
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import FallbackRule
from orchid.engine.document.values import (
    Count,
    ExactShare,
    Factor,
    Name,
    Positive,
    PositiveCount,
    Section,
    Selector,
    Slug,
    Text,
)
from orchid.engine.document.wording import selector_words
from orchid.engine.document.yaml_text import read_yaml
from orchid.engine.segments import segment_key

SCHEMA = "orchid.diagnosis-case/v1"


class Failures(Section):
    """Shares of the responses that the schema refuses."""

    before: ExactShare
    after: ExactShare


class CaseSegment(Section):
    """One segment that the change moves from a route to another."""

    where: Selector
    from_: Name = Field(alias="from")
    to: Name
    requests: PositiveCount
    """How many requests each side is told with."""
    schema_failures: Failures
    clears_floor: StrictBool = False
    """Whether evidence has it above its floor on the new route."""


class Latency(Section):
    """Two p95 in milliseconds, and what they leave out."""

    before: Positive
    after: Positive
    excludes: Literal["failures", "nothing"]


class Moved(Section):
    """What the change did to the policy."""

    fallback: tuple[FallbackRule, ...]


class Case(Section):
    """A change with its declared figures; ratios are after over before."""

    schema_: Literal["orchid.diagnosis-case/v1"] = Field(alias="schema")
    product: Slug
    name: Text
    change: Moved
    accelerator_time: Factor
    cost_per_admitted: Factor
    cost_per_success: Factor
    completion_p95_ms: Latency
    retries_per_failure: Count
    segments: Annotated[tuple[CaseSegment, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Told:
    """What follows from a case.

    `successes` is the ratio of successes per admitted request; `explained` the most of it that
    failures and their retries can be, if every request were in the worst segment and every retry
    failed too; `residual` times `explained` is `successes`, exactly.
    """

    case: Case
    successes: Fraction
    explained: Fraction
    violations: Change
    proposal: Proposal | None
    warnings: tuple[str, ...]
    experiments: tuple[str, ...]

    @property
    def residual(self) -> Fraction:
        return self.successes / self.explained

    @property
    def fewer(self) -> Fraction:
        """Successes per admitted request that are missing, as a part of those before."""
        return 1 - self.successes


def read_case(text: str) -> Case:
    """Raises pydantic.ValidationError, or a fault of the YAML."""
    return Case.model_validate(read_yaml(text))


def tell(case: Case, document: PolicyDocument) -> Told:
    """Diagnose the case under the product's document with the case's own change in it."""
    changed = document.model_copy(update={"fallback": (*document.fallback, *case.change.fallback)})
    before, after = (_cells(case, side) for side in ("before", "after"))
    goal = Goal("violations", Fraction(document.gates.violations.max), {})
    windows = Windows(changed, before, after, NOTHING, NOTHING)
    return Told(
        case,
        Fraction(case.cost_per_admitted) / Fraction(case.cost_per_success),
        _explained(case),
        share_change(violation_strata(before), violation_strata(after)),
        propose(windows, goal, (), NOTHING),
        tuple(_warnings(case)),
        tuple(_experiments(_worst(case))),
    )


def _cells(case: Case, side: str) -> list[Cell]:
    return [_cell(segment, side) for segment in case.segments]


def _cell(segment: CaseSegment, side: str) -> Cell:
    dims = {name: value for name, value in segment.where.items() if isinstance(value, str)}
    key, n = segment_key(dims), segment.requests
    is_after = side == "after"
    route = segment.to if is_after else segment.from_
    failed = round(getattr(segment.schema_failures, side) * n)
    losses = {"violation": failed} if failed else {}
    return Cell(
        segment=key,
        dims=dims,
        route=route,
        eligible=n,
        successes=n - failed,
        served=n,
        fallback=n if is_after else 0,
        admitted=n,
        ended=Stratum(key, route, n, losses),
        violations=failed,
        latency={},
        teu=NOTHING,
        usd=NOTHING,
        score=None,
    )


def _worst(case: Case) -> CaseSegment:
    return max(case.segments, key=lambda one: one.schema_failures.after)


def _explained(case: Case) -> Fraction:
    """(1 - f) successes of 1 + f r admitted, after over before, with the worst segment's f."""
    failures, retries = _worst(case).schema_failures, case.retries_per_failure
    sides = [Fraction(failures.before), Fraction(failures.after)]
    was, now = ((1 - f) / (1 + f * retries) for f in sides)
    return now / was


def _warnings(case: Case) -> Sequence[str]:
    latency = case.completion_p95_ms
    if latency.excludes == "nothing":
        return []
    return [
        f"The p95 of {latency.before:,.0f} and {latency.after:,.0f} ms leave out the "
        f"{latency.excludes}: a route that fails faster looks faster. The gate counts what never "
        "completed as outside its bound."
    ]


def _experiments(segment: CaseSegment) -> Sequence[str]:
    where, rate = selector_words(segment.where), segment.schema_failures.after
    n = ceil(log(0.05) / log(1 - float(rate))) if rate else 1
    return [
        f"Send the same inputs where {where} through {segment.to} and {segment.from_}, {n:,} of "
        "them at least: a difference that stays is the route's.",
        "The alternative: a constrained decoder or a task model for it, under the full contract.",
    ]
