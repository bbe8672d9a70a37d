"""The fleet and its ledger, how a change is rolled out, who approves it, when it is reopened."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DurationMs,
    ExactShare,
    Factor,
    Name,
    NonNegative,
    PositiveCount,
    Quantity,
    Section,
    Share,
    Text,
    Usd,
)

Role = Literal["product_owner", "engineer", "sre"]
StageKind = Literal["observe", "shadow", "hard_limits", "canary"]
Action = Literal["admit", "fallback", "bound", "early_terminate", "defer", "reject"]


class Fleet(Section):
    """The devices of this generation's own pool, their safe rate and their hourly ledger."""

    devices: PositiveCount
    group_size: PositiveCount
    """Devices that fail together."""
    raw_teu_per_s: Factor
    """Of one device, before the safe factor."""
    safe_factor: Factor
    device_usd_per_h: Usd
    overhead_usd_per_h: Usd
    device_gib: Quantity | None = None
    residency_gib: Mapping[Name, Quantity] = Field(default_factory=dict)
    """Lines of one device's memory; they sum to `device_gib` exactly."""
    kv_usable_factor: Factor | None = None
    """Part of the KV pool that block granularity and safety leave usable."""
    pool: Name | None = None
    """Name of the pool that serves this generation."""
    replicas: Mapping[Name, PositiveCount] = Field(default_factory=dict)
    """Replicas of each route."""
    headroom: Mapping[Name, ExactShare] = Field(default_factory=dict)
    """What the rate that is not safe is kept for; the lines sum to 1 - `safe_factor` exactly."""
    placement: Mapping[Name, Annotated[tuple[PositiveCount, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    """The device groups that hold a route's replicas, counted from 1."""
    max_resident_models: PositiveCount | None = None
    """Models that one device may hold at once."""
    max_adapters: Count | None = None
    """Adapters that one device may hold at once."""


class Stage(Section):
    """One step of a rollout: a duration by kind, or a canary fraction with its hold."""

    observe_ms: DurationMs | None = Field(default=None, alias="observe")
    shadow_ms: DurationMs | None = Field(default=None, alias="shadow")
    hard_limits_ms: DurationMs | None = Field(default=None, alias="hard_limits")
    canary: Annotated[Share, Field(gt=0)] | None = None
    hold: DurationMs | None = None
    """Of a canary: how long the stage must be watched before the next."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        named = [self.observe_ms, self.shadow_ms, self.hard_limits_ms, self.canary]
        if sum(value is not None for value in named) != 1:
            raise PydanticCustomError(
                "stage", "exactly one of observe, shadow, hard_limits, canary"
            )
        if self.canary is None and self.hold is not None:
            raise PydanticCustomError("stage", "hold only beside canary")
        return self

    @property
    def kind(self) -> StageKind:
        if self.observe_ms is not None:
            return "observe"
        if self.shadow_ms is not None:
            return "shadow"
        return "hard_limits" if self.hard_limits_ms is not None else "canary"

    @property
    def fraction(self) -> float:
        """Part of eligible demand that the candidate serves; 0 before the canary."""
        return self.canary or 0.0

    @property
    def hold_ms(self) -> int | None:
        """How long the stage lasts at least; None is a finding."""
        return self.observe_ms or self.shadow_ms or self.hard_limits_ms or self.hold


class Rollout(Section):
    """From the first canary to the whole."""

    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=32)]
    strata: tuple[Name, ...] = ()
    on_breach: Literal["rollback", "pause"] = "rollback"
    unit: Literal["session", "request", "tenant"] = "session"
    publish: Literal["manual", "automatic"] = "manual"
    """Whether the last approval publishes by itself, or somebody does it as a move of its own."""
    acknowledged_share: Annotated[Share, Field(gt=0)] = 1.0
    """Part of the traffic whose edges must have activated a publication before its clock runs."""


class Approvals(Section):
    """The roles that must approve, one person each, by what a change touches."""

    quality: tuple[Role, ...]
    cost: tuple[Role, ...]
    capacity: tuple[Role, ...]


class Revisit(Section):
    """A condition that reopens the decision by itself."""

    trigger: Name
    measure: Text
    """What is measured, in words."""
    max: NonNegative | None = None
    """The decision is reopened above it."""
    min: NonNegative | None = None
    """The decision is reopened below it."""
    window_ms: DurationMs = Field(alias="window")

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.max is None and self.min is None:
            raise PydanticCustomError("revisit", "max, min or both")
        return self


class ExampleGiven(Section):
    """A request on an idle warm fleet, unless `warm: false`."""

    class_: Name = Field(alias="class")
    deadline_in_ms: PositiveCount | None = None
    input_tokens: Count | None = None
    max_output_tokens: PositiveCount | None = None
    segment: Mapping[Name, Name] = Field(default_factory=dict)
    tenant: Name | None = None
    warm: StrictBool = True


class ExampleExpect(Section):
    """What the decision must be; fields not given are free."""

    action: Action
    route: Name | None = None
    reason: Name | None = None


class Example(Section):
    """A decision that the document must produce; run when it is proposed."""

    given: ExampleGiven
    expect: ExampleExpect
