"""What a successful response is, and the gates that a generation is judged by."""

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DeadlineMs,
    DurationMs,
    Name,
    NonNegative,
    Positive,
    PositiveCount,
    Probability,
    Section,
    Selector,
    Share,
    Text,
    Usd,
)

#: Kinds of evidence that a document can require; what happened online is no evidence by itself.
RequiredKind = Literal["frozen_suite", "adversarial", "policy", "shadow", "human"]
Rung = Literal["bounded", "early_terminated", "retrieval_only", "cached"]


class Population(Section):
    """Whose requests the contract speaks of."""

    name: Text
    """In words."""
    region: Name | None = None
    """Where it is served."""
    regime: Text | None = None
    """The load that the contract was written for."""


class Contract(Section):
    """When a response counts as a success."""

    clock: Literal["completion", "first_token", "inter_token"]
    """What the deadline is measured to."""
    deadline_ms: DeadlineMs
    """From authenticated arrival; a class may name its own."""
    denominator: Literal["eligible_offered"]
    """Every eligible request that was offered, refused ones included."""
    post_model_reserve_ms: Count
    """Time kept back after the model for validation and assembly of the response."""
    population: Population | None = None
    """Absent means all traffic of the product."""
    eligible: Selector = Field(default_factory=dict)
    """Dimensions that a request must have to be in any denominator; {} takes every request."""
    accepts: tuple[Rung, ...] = ()
    """Rungs below a full answer that count as success where they are explicit."""


class LatencyGate(Section):
    """At least 95 % of the ended requests are within `max` milliseconds."""

    max: PositiveCount
    """The bound in milliseconds."""
    window_ms: DurationMs = Field(alias="window")
    """What a display and freshness look back on."""
    confidence: Probability = 0.95
    """Of the bounds that are shown."""
    minimum_sample: PositiveCount = 200
    """Requests below which there is no verdict."""


class CostGate(Section):
    """Dollars of the ledger over successes, on a closed window; equality passes."""

    max: Usd
    """Dollars of one success."""
    window_ms: DurationMs = Field(alias="window")
    """The closed window that dollars and successes are summed over."""
    minimum_successes: PositiveCount = 200
    """Successes below which there is no verdict."""


class UtilityGate(Section):
    """The utility index, weighted by the observed mix, is at least `min`."""

    min: Share
    """Least index, from 0 to 1."""
    window_ms: DurationMs = Field(alias="window")
    """What the mix is observed over."""


class AttainmentGate(Section):
    """Successes over eligible offered requests are at least `min`."""

    min: Share
    """Least part of the eligible offered requests that succeed."""
    window_ms: DurationMs = Field(alias="window")
    """What a display and freshness look back on."""
    minimum_sample: PositiveCount = 200
    """Requests below which there is no verdict."""


class ViolationsGate(Section):
    """At most `max` invalid responses delivered as complete."""

    max: Count
    """Responses."""
    window_ms: DurationMs = Field(alias="window")
    """What they are counted over."""


class GatedSegment(Section):
    """A part of the traffic in which every gate must hold by itself."""

    name: Name
    """Its name on pages and in verdicts."""
    where: Selector
    """The requests that are in it."""
    minimum_sample: PositiveCount = 200
    """Requests below which the segment has no verdict."""


class EvidenceRules(Section):
    """Which quality evidence is valid. What is not can clear no floor."""

    max_age_ms: DurationMs = Field(default=2_592_000_000, alias="max_age")
    """From the measurement to the moment that is judged."""
    kinds_required: tuple[RequiredKind, ...] = ()
    """Kinds that have to be there and fresh, beside the score, wherever a response is counted."""


class Guardrail(Section):
    """A bound on a measure that stops a stage while the five gates still look good."""

    measure: Name
    """What is measured; the reference lists every measure."""
    max: NonNegative | None = None
    """The guardrail fails above it."""
    min: NonNegative | None = None
    """The guardrail fails below it."""
    window_ms: DurationMs = Field(alias="window")
    """What the measure is taken over, up to the watermark and never before the window opened."""
    where: Selector = Field(default_factory=dict)
    """The requests that it is taken of; {} takes every request."""
    minimum_sample: PositiveCount = 200
    """Requests below which the guardrail says nothing."""

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.max is None and self.min is None:
            raise PydanticCustomError("guardrail", "max, min or both")
        return self


class SharePrior(Section):
    """The Beta distribution that a share's e-value starts from; 1 and 1 favour no share."""

    a: Positive = 1.0
    """Good requests that it is worth."""
    b: Positive = 1.0
    """Bad requests that it is worth."""


class AgainstIncumbent(Section):
    """The largest loss that a canary may show against the incumbent, in the same strata."""

    attainment: Share | None = None
    """Points of attainment; absent gates nothing."""
    latency: Share | None = None
    """Points of the share within each latency gate's bound; absent gates nothing."""


class Gates(Section):
    """Bounds, and the settings that verdicts about them share."""

    completion_p95_ms: LatencyGate
    """From authenticated arrival to the complete valid response."""
    cost_per_success_usd: CostGate
    """What one success costs."""
    utility: UtilityGate
    """How good answers are, on the whole."""
    attainment: AttainmentGate
    """How many requests succeed."""
    violations: ViolationsGate
    """Invalid responses that were delivered; never averaged."""
    first_token_p95_ms: LatencyGate | None = None
    """From arrival to the first token."""
    time_per_output_token_p95_ms: LatencyGate | None = None
    """(last token - first token) / (output tokens - 1); a single token has none."""
    inter_token_gap_p95_ms: LatencyGate | None = None
    """The longest gap between two tokens of a response."""
    alpha_pass: Probability = 0.05
    """Chance allowed of passing what does not meet its bound."""
    alpha_fail: Probability = 0.01
    """Chance allowed of failing what does meet its bound."""
    step_s: PositiveCount = 60
    """Seconds of one rollup step."""
    segments: tuple[GatedSegment, ...] = ()
    """Parts of the traffic that are judged by themselves as well."""
    design_effect_prior: Positive = 1.0
    """Least variance inflation assumed; eight time blocks or more can only raise it."""
    fragile_margin: NonNegative = 0.01
    """A margin below this fraction of its bound is shown as fragile."""
    prior: SharePrior = Field(default_factory=SharePrior)
    """What the evidence about a share starts from: how soon one passes, never the alpha."""
    false_alarm_every_ms: DurationMs = Field(default=2_592_000_000, alias="false_alarm_every")
    """Mean time between two false alarms of the detector that watches what is live."""
    against_incumbent: AgainstIncumbent | None = None
    """What a canary may lose; absent, the comparison is shown and gates nothing."""
    evidence: EvidenceRules = Field(default_factory=EvidenceRules)
    """Which quality evidence is valid."""
    guardrails: tuple[Guardrail, ...] = ()
    """What stops a stage beside the gates: queue, cache, transfer, fallback, fairness."""
