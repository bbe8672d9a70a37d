"""The fleet and its ledger, how a change is rolled out, who approves it, when it is reopened."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DeviceCount,
    DurationMs,
    ExactShare,
    Factor,
    Name,
    NonNegative,
    PositiveCount,
    PositiveShare,
    Quantity,
    Section,
    Share,
    Text,
    Usd,
)

Role = Literal["product_owner", "engineer", "sre"]
StageKind = Literal["observe", "shadow", "hard_limits", "canary"]
Action = Literal["admit", "fallback", "bound", "early_terminate", "defer", "reject"]
ReviewEvidence = Literal[
    "warm_trial",
    "cold_trial",
    "phase_traces",
    "segmented_quality",
    "policy_reconciliation",
    "repeated_recovery",
    "uncertainty",
]


class Fleet(Section):
    """The devices of this generation's own pool, their safe rate and their hourly ledger."""

    devices: DeviceCount
    """All devices of the pool, busy or idle."""
    group_size: PositiveCount
    """Devices that fail together."""
    raw_teu_per_s: Factor
    """Of one device, before the safe factor."""
    safe_factor: Factor
    """Part of the raw rate that is planned with; the rest is headroom."""
    device_usd_per_h: Usd
    """Of one device."""
    overhead_usd_per_h: Usd
    """Hosts, storage, network, control, validation and observability together."""
    device_gib: Quantity | None = None
    """Memory of one device."""
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
    """Only measures, for so long."""
    shadow_ms: DurationMs | None = Field(default=None, alias="shadow")
    """The candidate sees copies and answers nobody, for so long."""
    hard_limits_ms: DurationMs | None = Field(default=None, alias="hard_limits")
    """Only limits are enforced, for so long."""
    canary: PositiveShare | None = None
    """Part of eligible demand that the candidate serves."""
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
    """In order, each with how long it is watched."""
    strata: tuple[Name, ...] = ()
    """Dimensions within which the canary takes the same part of each value."""
    on_breach: Literal["rollback", "pause"] = "rollback"
    """What a failed gate does."""
    unit: Literal["session", "request", "tenant"] = "session"
    """What is exposed as a whole, so that it never sees both generations."""
    publish: Literal["manual", "automatic"] = "manual"
    """Whether the last approval publishes by itself, or somebody does it as a move of its own."""
    acknowledged_share: PositiveShare = 1.0
    """Part of the traffic whose edges must have activated a publication before its clock runs."""
    on_expiry: Literal["keep", "safe_floor"] = "keep"
    """What an edge does whose bundle has expired: go on, or serve the incumbent at the floor."""


class Approvals(Section):
    """The roles that must approve, one person each, by what a change touches."""

    quality: tuple[Role, ...]
    """For lower floors, wider fallback, looser gates."""
    cost: tuple[Role, ...]
    """For more dollars."""
    capacity: tuple[Role, ...]
    """For limits, shares, budgets and rollout."""
    evidence_required: tuple[ReviewEvidence, ...] = ()
    """What a proposal must show on its review card before anybody can approve it."""
    accepted_room: Share = 0.5
    """Part of the room between a signed figure and its gate that a stage may use up; 1 is all."""


class Revisit(Section):
    """A condition that reopens the decision by itself."""

    trigger: Name
    """Its name on pages and in records."""
    measure: Text
    """What is measured, in words."""
    max: NonNegative | None = None
    """The decision is reopened above it."""
    min: NonNegative | None = None
    """The decision is reopened below it."""
    window_ms: DurationMs = Field(alias="window")
    """What the measure is taken over."""

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.max is None and self.min is None:
            raise PydanticCustomError("revisit", "max, min or both")
        return self


class ExampleGiven(Section):
    """A request on an idle warm fleet, unless `warm: false`."""

    class_: Name = Field(alias="class")
    """A key of `classes`."""
    deadline_in_ms: PositiveCount | None = None
    """From arrival; absent means the class's."""
    input_tokens: Count | None = None
    """Absent means the class's."""
    max_output_tokens: PositiveCount | None = None
    """Absent means the class's."""
    segment: Mapping[Name, Name] = Field(default_factory=dict)
    """Values of dimensions that the class does not set."""
    tenant: Name | None = None
    """Whose request it is."""
    warm: StrictBool = True
    """False asks what happens while no replica is ready."""


class ExampleExpect(Section):
    """What the decision must be; fields not given are free."""

    action: Action
    """What is done with the request."""
    route: Name | None = None
    """The route that serves it."""
    reason: Name | None = None
    """Why it is not served as asked."""


class Example(Section):
    """A decision that the document must produce; run when it is proposed."""

    given: ExampleGiven
    """The request."""
    expect: ExampleExpect
    """The decision."""
