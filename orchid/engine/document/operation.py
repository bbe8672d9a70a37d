"""The fleet and its ledger, how a change is rolled out, who approves it, when it is reopened."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.freeze import Freeze
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

Role = Literal["product_owner", "sre"]
StageRole = Literal["product_owner", "sre"]
DAY_MS = 86_400_000
StageKind = Literal["observe", "shadow", "hard_limits", "canary"]
Covered = Literal["peak", "cold_start", "drill"]
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
    minimum_per_stratum: PositiveCount | None = None
    """Of a canary: ended requests of the candidate that every stratum must have."""
    peak: PositiveShare | None = None
    """Part of the busiest hour of the last seven days that an hour of the stage must have had."""
    cache_cycles: PositiveCount | None = None
    """Times that the stage must see `cache_cycle` go by, at least."""
    approval: StageRole | None = None
    """Who must say yes, with everything else fulfilled, before the next stage."""
    survival: PositiveShare | None = None
    """Of observe: part of the completed requests that every account knows by the same id."""
    teu_error: NonNegative | None = None
    """Of observe: at most so far from the TEU that were predicted, as a part of them."""
    agreement: PositiveShare | None = None
    """Of shadow: part of the decisions in which the candidate decides as the incumbent does."""
    decisions: PositiveCount | None = None
    """Of shadow: decisions that must have been made on both sides."""
    max_refused: Share | None = None
    """Of hard limits: part of the offered requests that may be refused."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        named = [self.observe_ms, self.shadow_ms, self.hard_limits_ms, self.canary]
        if sum(value is not None for value in named) != 1:
            raise PydanticCustomError(
                "stage", "exactly one of observe, shadow, hard_limits, canary"
            )
        if self.canary is None and self.hold is not None:
            raise PydanticCustomError("stage", "hold only beside canary")
        for key, kind in KIND_OF_KEY.items():
            if getattr(self, key) is not None and kind != self.kind:
                raise PydanticCustomError("stage", f"{key} only beside {kind}")
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

    @property
    def is_bounded(self) -> bool:
        """Whether facts can let it go on: gates from the canary on, before it what it bounds."""
        own = (self.survival, self.teu_error, self.agreement, self.decisions, self.max_refused)
        return self.canary is not None or any(bound is not None for bound in own)


#: Keys of a stage that mean something in one kind of stage only.
KIND_OF_KEY: Mapping[str, StageKind] = {
    "minimum_per_stratum": "canary",
    "survival": "observe",
    "teu_error": "observe",
    "agreement": "shadow",
    "decisions": "shadow",
    "max_refused": "hard_limits",
}


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
    cache_cycle_ms: DurationMs | None = Field(default=None, alias="cache_cycle")
    """In how long the content of a prefix cache is another; what `cache_cycles` counts."""
    apart: tuple[Name, ...] = ()
    """Gated segments that go through the canary by their own verdicts, ahead or behind."""
    before_whole: tuple[Covered, ...] = ()
    """What a rollout must have been through before everything is the candidate's."""
    warm_up: StrictBool = False
    """Whether a probe must have found the candidate's pool warm before a stage takes traffic."""
    on_expiry: Literal["keep", "safe_floor"] = "keep"
    """What an edge does whose bundle has expired: go on, or serve the incumbent at the floor."""
    freezes: Annotated[tuple[Freeze, ...], Field(max_length=64)] = ()
    """Times in which nothing is published but a rollback or in an emergency."""
    schedule_grace: DurationMs = DAY_MS // 24
    """How late a scheduled publication may still go out by itself."""

    def hold_of(self, stage: Stage) -> int | None:
        """Milliseconds that a stage is watched at least; None where nothing says how long."""
        cycles = (stage.cache_cycles or 0) * (self.cache_cycle_ms or 0)
        return max(stage.hold_ms or 0, cycles) or None


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
    expire_after: DurationMs = 30 * DAY_MS
    """How long a round of review may last before its votes no longer count."""
    second_look: DurationMs = DAY_MS
    """How long after an emergency somebody else must have looked at what was done."""
    second_look_overdue: Literal["block", "rollback"] = "block"
    """What else a second look that is overdue does than to block the next publication."""


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
