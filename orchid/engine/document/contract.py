"""What a successful response is, and the gates that a generation is judged by."""

from typing import Literal

from pydantic import Field

from orchid.engine.document.values import (
    Count,
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

Rung = Literal["bounded", "early_terminated", "retrieval_only", "cached"]


class Population(Section):
    """Whose requests the contract speaks of."""

    name: Text
    region: Name | None = None
    regime: Text | None = None


class Contract(Section):
    """When a response counts as a success."""

    clock: Literal["completion", "first_token", "inter_token"]
    deadline_ms: PositiveCount
    """From authenticated arrival; a class may name its own."""
    denominator: Literal["eligible_offered"]
    post_model_reserve_ms: Count
    """Time kept back after the model for validation and assembly of the response."""
    population: Population | None = None
    eligible: Selector = Field(default_factory=dict)
    """Dimensions that a request must have to be in any denominator; {} takes every request."""
    accepts: tuple[Rung, ...] = ()
    """Rungs below a full answer that count as success where they are explicit."""


class LatencyGate(Section):
    """At least 95 % of the ended requests are within `max` milliseconds."""

    max: PositiveCount
    window_ms: DurationMs = Field(alias="window")
    confidence: Probability = 0.95
    minimum_sample: PositiveCount = 200


class CostGate(Section):
    """Dollars of the ledger over successes, on a closed window; equality passes."""

    max: Usd
    window_ms: DurationMs = Field(alias="window")
    minimum_successes: PositiveCount = 200


class UtilityGate(Section):
    """The utility index, weighted by the observed mix, is at least `min`."""

    min: Share
    window_ms: DurationMs = Field(alias="window")


class AttainmentGate(Section):
    """Successes over eligible offered requests are at least `min`."""

    min: Share
    window_ms: DurationMs = Field(alias="window")
    minimum_sample: PositiveCount = 200


class ViolationsGate(Section):
    """At most `max` invalid responses delivered as complete."""

    max: Count
    window_ms: DurationMs = Field(alias="window")


class GatedSegment(Section):
    """A part of the traffic in which every gate must hold by itself."""

    name: Name
    where: Selector
    minimum_sample: PositiveCount = 200


class Gates(Section):
    """Bounds, and the settings that verdicts about them share."""

    completion_p95_ms: LatencyGate
    cost_per_success_usd: CostGate
    utility: UtilityGate
    attainment: AttainmentGate
    violations: ViolationsGate
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
    design_effect_prior: Positive = 1.0
    """Variance inflation assumed until eight time blocks allow an estimate."""
    fragile_margin: NonNegative = 0.01
    """A margin below this fraction of its bound is shown as fragile."""
